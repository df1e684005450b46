"""A fleet of the tests' own: SSH servers on loopback, each a board of its own as far as tauto sees."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ssh_servers import SshServer, ssh_server


@dataclass
class Boards:
    """Boards that answer, and their file.

    Attributes:
        home: of the user who reaches them, whose ssh configuration knows them by name.
        servers: by the name of the board.
    """

    folder: Path
    home: Path
    servers: dict[str, SshServer] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """For tauto, which is to know nothing of this machine's own user."""
        return os.environ | {"HOME": str(self.home), "XDG_STATE_HOME": str(self.home / "state")}

    def file(self, names: Sequence[str], more: str = "", of_each: str = "") -> str:
        """Write fleet.toml with these machines, which need not answer."""
        path = self.folder / "fleet.toml"
        tables = [
            f'[[machine]]\nname = "{name}"\non = "ssh:{name}"\ntags = ["all", "{name}-only"]\n{of_each}'
            for name in names
        ]
        path.write_text("\n".join([more, *tables]))
        return str(path)


@contextmanager
def boards(folder: Path, names: Sequence[str], host: str = "127.0.0.1") -> Iterator[Boards]:
    """Boards of these names at this address, as long as the block lasts."""
    home = folder / "user"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    found = Boards(folder, home)
    lines = []
    with ExitStack() as stack:
        for name in names:
            place = folder / name
            place.mkdir()
            server = stack.enter_context(ssh_server("openssh", place, host))
            found.servers[name] = server
            lines.append(
                f"Host {name}\n  HostName {server.host}\n  Port {server.port}\n"
                f"  IdentityFile {server.home}/.ssh/id_ed25519\n"
                f"  UserKnownHostsFile {server.home}/.ssh/known_hosts\n"
            )
        (home / ".ssh" / "config").write_text("".join(lines))
        yield found
