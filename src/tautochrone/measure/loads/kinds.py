"""The loads that the probe has, and the loads of the papers, by the names that people give them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

BUILT_IN_PAIR = "cpu+memory"
TASKS = "tasks"
COMMAND = "command"
STRESS_NG = "stress-ng"
THP = "thp"

COMMON_KEYS = {
    "cpus": "where its threads run: 0,2-3 or all",
    "nice": "0 to 19: gives way to other ordinary threads",
}
REAL_TIME_KEYS = {
    "policy": "of its threads: other, fifo or rr",
    "priority": "of its threads, policies fifo and rr",
}


@dataclass(frozen=True)
class LoadKind:
    """One load of the probe.

    Attributes:
        summary: what it does, in a few words.
        origin: the paper that it is from; empty if none.
        options: its own options, and what they mean.
        any_policy: its threads may be real-time ones.
    """

    summary: str
    origin: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    any_policy: bool = False

    @property
    def keys(self) -> dict[str, str]:
        """Return what may stand behind its name, and what it means."""
        return {**self.options, **COMMON_KEYS, **(REAL_TIME_KEYS if self.any_policy else {})}


_PEER = {
    "role": "of this machine: both, server or client",
    "host": "address of, or for, the server",
    "port": "of the server; roles server and client",
}

KINDS: Mapping[str, LoadKind] = {
    "cpu": LoadKind(
        "arithmetic of many kinds in turn on every chosen CPU",
        "delgado2020",
        {"method": "all in turn, or one by its name"},
    ),
    "memory": LoadKind(
        "maps, fills, checks, copies and frees memory",
        "delgado2020",
        {"bytes": "in all: 64MiB, or 70% of what is available", "stressors": "in all"},
    ),
    "bandwidth": LoadKind(
        "the way to memory and the last cache, by stores past it and changes in every line",
        "",
        {
            "kind": "store, thrash or both",
            "bytes": "of all buffers: 64MiB, or 70% of what is available",
        },
    ),
    "network": LoadKind(
        "a server that answers many clients, each at its own rate",
        "delgado2020",
        {
            **_PEER,
            "clients": "a connection each",
            "bytes": "of each answer",
            "rate": "bits per second for each client",
        },
        any_policy=True,
    ),
    "comms": LoadKind(
        "a server and a client that exchange messages over TCP",
        "laurich2004",
        {
            **_PEER,
            "bytes": "of each message",
            "pairs": "of server and client",
            "pause": "between two exchanges",
        },
        any_policy=True,
    ),
    TASKS: LoadKind(
        "periodic real-time tasks below the measured ones, ten on each measured CPU",
        "koh2013",
        {"tasks": "how many in all", "period": "of each", "work": "of each in each period"},
        any_policy=True,
    ),
    "storage": LoadKind(
        "writes, syncs, reads back and checks a file",
        "",
        {
            "path": "a folder",
            "bytes": "of the files, in all",
            "block": "written or read at once",
            "sync": "fsync after so many blocks",
        },
    ),
    "fork": LoadKind(
        "creates, fills and ends large processes: what separates kernels best",
        "",
        {"bytes": "of all children: 64MiB, or 70% of what is available"},
    ),
    "exit": LoadKind(
        "one large process after the other: as fork, but each has all of the memory",
        "",
        {"bytes": "of all children: 64MiB, or 70% of what is available"},
    ),
    "munmap": LoadKind(
        "maps memory, fills it, and gives all of it back at once",
        "",
        {"bytes": "of all mappings: 64MiB, or 70% of what is available"},
    ),
    THP: LoadKind(
        "as munmap with huge pages, which are taken apart and put together",
        "",
        {"bytes": "of all mappings: 64MiB, or 70% of what is available"},
    ),
    "pipe": LoadKind(
        "groups of threads that send messages to each other, as hackbench does",
        "",
        {
            "groups": "of senders and receivers",
            "members": "senders in each group, and as many receivers",
            "bytes": "of each message",
        },
    ),
    "irq": LoadKind(
        "interrupts on every chosen CPU, by timers, packets or from CPU to CPU",
        "",
        {"kind": "timer, ipi, both or network", "rate": "of each kind per second, on each CPU"},
        any_policy=True,
    ),
}
"""The built-in loads; `tests/campaign/test_plan_loads.py` sees that the probe has the same ones."""

TAKES_THE_REST = {
    STRESS_NG: "stress-ng with these arguments, where it is installed",
    COMMAND: "any program that is installed, such as iperf3 or hackbench",
}
"""Loads whose words run to the end of what a person wrote."""

PRESETS: Mapping[str, tuple[str, str]] = {
    "delgado2020": (
        "cpu+memory:bytes=70%,stressors=5+network:clients=100",
        "the interfering loads of its section V, all at once",
    ),
    "laurich2004": ("comms", "the communications load of its section 5"),
    "koh2013": (TASKS, "the load tasks of its section 4.2"),
}
"""Name -> the loads it stands for, and what that is."""
