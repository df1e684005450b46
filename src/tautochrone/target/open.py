"""The machine under test, by the name that people give it after --on.

    with open_target(on) as target:  # None or "local": this machine; else ssh:…, lab:… or labgrid:…
        facts = gather(target.files())
        run_cell(case, store, target, facts)

Open it once for a command, not once for a case: connecting and pushing the probe takes a second or so.
Leaving the block ends what was started there and puts back what was changed. What goes wrong with the
connection while it is open is a `MeasuringError` from whatever was asked of the target at that moment.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tautochrone.target.address import LabAddress, LabgridAddress, read_address
from tautochrone.target.local import LocalTarget
from tautochrone.target.target import Target


@contextmanager
def open_target(where: str | None) -> Iterator[Target]:
    """Connect to a machine, for as long as the block lasts."""
    address = read_address(where) if where is not None else None
    if isinstance(address, LabgridAddress):
        from tautochrone.target.labgrid import acquired

        with acquired(address) as service, open_target(str(service)) as reached:
            reached.name = str(address)
            yield reached
        return
    target: Target
    if address is None:
        target = LocalTarget()
    elif isinstance(address, LabAddress):
        from tautochrone.target.virtual.target import boot

        target = boot(address)
    else:
        from tautochrone.target.ssh.target import connect  # asyncssh takes a while to load

        target = connect(address)
    try:
        yield target
    finally:
        target.close()
