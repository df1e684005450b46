"""What a run of `step` exchanged with a device or a peer: where, and what became of its messages."""

from msgspec import Struct

from tautochrone.run.manifest import Manifest

ROUND_TRIP, INPUT_AGE = "round_trip_ns", "input_age_ns"


class ExchangeBooks(Struct, frozen=True):
    """The messages of recorded steps; ``foreign`` of all that came.

    Attributes:
        sent, unsent: what the system took, and what it did not take.
        answered: in time; what was sent and not answered is lost.
        late: answers after the patience: those are lost, too.
        repeated: answers to what was answered already.
        reordered: answers that came after the answer to a later message.
        incomplete: answers with fewer values than the step has inputs.
        foreign: messages that answer nothing.
    """

    sent: int = 0
    unsent: int = 0
    answered: int = 0
    lost: int = 0
    late: int = 0
    repeated: int = 0
    reordered: int = 0
    incomplete: int = 0
    foreign: int = 0


class ExchangeEvent(Struct, frozen=True):
    """The part of the event ``step`` about an exchange; None: there was none, or the run was cut off."""

    exchange: ExchangeBooks | None = None


def exchange_of(manifest: Manifest) -> ExchangeBooks | None:
    """Return what became of the messages of a run; None where nothing is known of any."""
    found = manifest.event("step")
    return None if found is None else found.told(ExchangeEvent).exchange


def exchange_place(manifest: Manifest) -> str:
    """Return where its messages went, ``udp:127.0.0.1:9000``; empty: it exchanged nothing."""
    return str(manifest.header.parameters.get("exchange") or "")


def arrival_is_the_kernels(manifest: Manifest) -> bool:
    """Return whether the kernel told when messages arrived; otherwise that is when a step took them."""
    exchange = manifest.header.stored.get("exchange")
    return not isinstance(exchange, dict) or exchange.get("receipt") == "kernel"
