"""What the lab itself knows to limit a run's meaning: what the probe warned of, and loads that did not load."""

from collections.abc import Iterable, Mapping, Sequence

from tautochrone.run.manifest import Warning

_FEWEST_CPU_SHARE = 0.05


def cautions_of_probe(messages: Iterable[str]) -> list[Warning]:
    """The probe's own warnings, as warnings of the run."""
    found = []
    for message in messages:
        if message.startswith("warning: "):
            found.append(Warning("probe", message.removeprefix("warning: ")))
    return found


def cautions_of_loads(reports: Sequence[Mapping[str, object]]) -> list[Warning]:
    """A load that did nearly nothing was no load: its CPU time is compared with the time that it had."""
    found = []
    for report in reports:
        elapsed_ns, cpu_time_ns, threads = report["elapsed_ns"], report["cpu_time_ns"], report["threads"]
        assert isinstance(elapsed_ns, int)
        assert isinstance(cpu_time_ns, int)
        assert isinstance(threads, int)
        share = cpu_time_ns / max(1, elapsed_ns * threads)
        if share < _FEWEST_CPU_SHARE:
            found.append(
                Warning(
                    "load-did-not-load",
                    f"the load '{report['load']}' got only {share:.1%} of the CPU time that it was meant to use",
                    "Something of higher priority kept the CPUs busy, or a container limit held the load back.",
                )
            )
    return found
