"""The machine under test, by the name that people give it after --on.

    with open_target(on) as target:  # None or "local": this machine; else ssh:…, lab:… or labgrid:…
        facts = gather(target.files())
        run_cell(case, store, target, facts)

Open it once for a command, not once for a case: connecting and pushing the probe takes a second or so.
Leaving the block ends what was started there and puts back what was changed. What goes wrong with the
connection while it is open is a `MeasuringError` from whatever was asked of the target at that moment.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tautochrone.base.errors import TautoError
from tautochrone.target.address import LabAddress, LabgridAddress, read_address
from tautochrone.target.claim import TakenError, claimed
from tautochrone.target.local import LocalTarget
from tautochrone.target.target import Target

_BRIEFLY_S = 10.0
"""A tauto that was killed lets go of its machine within this time, also of one that is very busy."""


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


@contextmanager
def open_to_measure(where: str | None) -> Iterator[Target]:
    """Connect to a machine, and claim it if it is another one: nobody else measures there meanwhile.

    One that can't be claimed is measured all the same, and knows why (`Target.unclaimed`).

    Raises:
        TakenError: somebody else measures there.
    """
    with ExitStack() as stack:
        target = stack.enter_context(open_target(where))
        if not isinstance(target, LocalTarget):
            claim_if_free(target, stack, _BRIEFLY_S)
        yield target


def claim_if_free(target: Target, stack: ExitStack, wait_s: float) -> None:
    """Claim it until the stack is closed, waiting so long for it, or note why it can't be claimed.

    Raises:
        TakenError: somebody else measures there.
    """
    try:
        stack.enter_context(claimed(target, wait_s))
    except TakenError:
        raise
    except TautoError as error:
        target.unclaimed = str(error)
