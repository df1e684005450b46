"""The thread in which asyncssh works, so that the lab can stay synchronous."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

_T = TypeVar("_T")
_PATIENCE_S = 5.0


class Background:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        """Start it."""
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_note)  # what a person must know comes out of what they asked for
        self._thread = threading.Thread(target=self._loop.run_forever, name="ssh", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do it there and wait for its result; whatever it raises is raised here."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def soon(self, call: Callable[[], object]) -> None:
        """Do it there, some time; takes no lock, so it may be called from a signal handler."""
        with suppress(RuntimeError):  # closed: there is nobody left to tell
            self._loop.call_soon_threadsafe(call)

    def close(self) -> None:
        """End what still runs there, and the thread."""
        if self._loop.is_closed():
            return
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result(_PATIENCE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE_S)
        if not self._thread.is_alive():
            self._loop.close()


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _note(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    logging.getLogger(__name__).debug("%s", context.get("message"), exc_info=context.get("exception"))
