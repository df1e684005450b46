"""Names of middleware as streams, plans and the conditions of runs have them, each in this place alone."""

THROUGHPUT, LATENCY, FOOTPRINT = "middleware-throughput", "middleware-latency", "middleware-footprint"
EXPERIMENTS = (THROUGHPUT, LATENCY, FOOTPRINT)

TRANSPORT = "transport"
"""The option, and the parameter of a run."""

SOCKETS = ("tcp", "udp", "unix")
"""The transports that need no library: their programs can be static."""

TRANSPORTS = (*SOCKETS, "zeromq", "cyclonedds", "omniorb")
"""That the probe knows, in the order in which they are shown; each machine says which of them it has."""

TWO_WAY, ONE_WAY = "two-way", "one-way"
DIRECTIONS = (TWO_WAY, ONE_WAY)

SCALARS = ("void", "octet", "short", "long", "double", "struct")
SEQUENCES = ("longs", "octets")
TYPES = (*SCALARS, *SEQUENCES)

TOGETHER, SPREAD = "together", "spread"
PHASES = (TOGETHER, SPREAD)
"""Whether clients are released all at once, or spread over a period."""

INCIDENTAL = (
    "The times of a footprint run are incidental; its memory, which it is about, is in `tauto report` and "
    "`tauto show`."
)
"""What is said where runs are compared by their times."""

SERVER_ON, SERVER, SIZES = "server_on", "server", "footprint"
"""Conditions of a run: the target on which its server ran, what is known of that machine, and the sizes of
library and program that the build noted."""
