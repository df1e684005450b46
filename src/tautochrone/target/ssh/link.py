"""One connection: programs are started over it, it is kept alive, and its loss is noticed."""

import asyncio
import ipaddress

import asyncssh

from tautochrone.base.errors import MeasuringError
from tautochrone.target.ssh.background import Background
from tautochrone.target.ssh.program import RemoteProgram, Translate

_HEARTBEAT_S = 0.4
_IPV6 = 6


class Link:
    """A connection to a machine, once it has let us in."""

    def __init__(self, background: Background, connection: asyncssh.SSHClientConnection, name: str) -> None:
        """Begin to send heartbeats.

        Args:
            name: of the machine, for people.
        """
        self._background = background
        self._connection = connection
        self._name = name
        self._ends = tuple(_address_of(connection.get_extra_info(end)) for end in ("sockname", "peername"))
        self._programs: set[RemoteProgram] = set()
        self._is_closing = False
        self._lost: MeasuringError | None = None
        background.run(self._begin())

    def start(self, command: str, translate: Translate, *, beats: bool) -> RemoteProgram:
        """Start a command.

        Args:
            beats: it wants an empty line now and then, or takes the connection for dead.

        Raises:
            MeasuringError: the connection was lost, or the machine starts no more programs.
        """
        program = self._background.run(self._start(command, translate))
        if beats:
            self.beat(program)
        return program

    def beat(self, program: RemoteProgram) -> None:
        """From now on it wants heartbeats."""
        self._background.soon(lambda: self._programs.add(program))

    def address_here(self) -> str | None:
        """This machine's end of the connection, also of one that was lost.

        None: it goes through a proxy or another machine, or the address holds on one network interface only.
        """
        return self._ends[0]

    def address_there(self) -> str | None:
        """The machine's end of the connection; None as above."""
        return self._ends[1]

    def lost(self) -> MeasuringError:
        """The error that says so."""
        return self._lost or MeasuringError(
            f"the connection to {self._name} was lost",
            "What was started there ends by itself, and what was changed there is put back by itself.",
        )

    def close(self) -> None:
        """Close it. Whatever still runs there takes it for cut."""
        self._is_closing = True
        self._background.run(self._end())

    async def _begin(self) -> None:
        self._pulse = asyncio.get_running_loop().create_task(self._beat())
        self._watch = asyncio.get_running_loop().create_task(self._wait_for_the_end())

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(_HEARTBEAT_S)
            for program in tuple(self._programs):
                if program.has_ended:
                    self._programs.discard(program)
                else:
                    program.beat()

    async def _wait_for_the_end(self) -> None:
        await self._connection.wait_closed()
        self._connection.abort()  # one that was given up has its socket still

    async def _start(self, command: str, translate: Translate) -> RemoteProgram:
        program = RemoteProgram(self._background, self.lost, translate)
        try:
            await self._connection.create_session(lambda: program, command, encoding=None)
        except asyncssh.ChannelOpenError as error:
            if self._connection.is_closed():
                raise self.lost() from error
            raise MeasuringError(
                f"{self._name} starts no more programs over this connection: {error.reason}",
                "Use fewer loads at once, or raise MaxSessions in its sshd_config.",
            ) from error
        except (OSError, asyncssh.Error) as error:
            raise self.lost() from error
        return program

    async def _end(self) -> None:
        self._pulse.cancel()
        self._connection.close()
        try:
            await asyncio.wait_for(self._connection.wait_closed(), 2.0)
        except TimeoutError:
            self._connection.abort()


def _address_of(end: object) -> str | None:
    """As a number that holds on any interface; None: it is none."""
    host = str(end[0]) if isinstance(end, tuple) and end else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:  # none at all, or with the name of an interface
        return None
    return None if address.version == _IPV6 and address.is_link_local else host
