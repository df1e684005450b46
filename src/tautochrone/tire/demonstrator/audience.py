"""Those who look: what goes to all of them, and what one that is too slow is left without."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

MOST_WAITING = 50
"""Messages that wait for one of them: half a second. Then the oldest is left out, and counted."""


class Viewer:
    """One of them. What must come is kept apart from what may be left out; messages are text."""

    def __init__(self) -> None:
        """Nothing waits."""
        self.skipped = 0
        self._certain: deque[str] = deque()
        self._waiting: deque[str] = deque()
        self._something = asyncio.Event()
        self._ended = False

    def show(self, message: str) -> None:
        """What may be left out when there is no room."""
        if len(self._waiting) == MOST_WAITING:
            self._waiting.popleft()
            self.skipped += 1
        self._waiting.append(message)
        self._something.set()

    def tell(self, message: str) -> None:
        """What must come."""
        self._certain.append(message)
        self._something.set()

    def end(self) -> None:
        """Nothing more will come."""
        self._ended = True
        self._something.set()

    async def messages(self) -> AsyncIterator[str]:
        """All that comes, until the end; what waited is first."""
        while True:
            while self._certain or self._waiting:
                yield (self._certain or self._waiting).popleft()
            if self._ended:
                return
            self._something.clear()
            await self._something.wait()
