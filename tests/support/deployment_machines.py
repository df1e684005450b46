"""Machines as file trees whose settings can be changed, and a kernel behind them that does as Linux does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_list
from tautochrone.machine.settings import Change, MakeFolder, MoveTasks, SettingError, Write

CPUS = "/sys/devices/system/cpu"
V2 = "/sys/fs/cgroup"
V1 = "/sys/fs/cgroup/cpuset"
POLL_C1_C6 = ((0, "POLL"), (2, "C1"), (133, "C6"))


def plant_machine(
    root: Path,
    cores: Sequence[Sequence[int]],
    *,
    cgroup: int | None = 2,
    fixed: Sequence[int] = (0,),
    states: Sequence[tuple[int, str]] = POLL_C1_C6,
    irqs: Mapping[int, str] | None = None,
    capacities: Sequence[int] = (),
    more: Mapping[str, str] | None = None,
) -> Path:
    """A machine with these cores; `fixed` CPUs can't go off line; `irqs` are interrupts and their CPUs."""
    cpus = sorted(cpu for core in cores for cpu in core)
    listed = format_cpu_list(cpus)
    files = {f"{CPUS}/{name}": listed for name in ("online", "present", "possible")} | {
        f"{CPUS}/isolated": "",
        f"{CPUS}/smt/control": "on" if any(len(core) > 1 for core in cores) else "notsupported",
        "/proc/cmdline": "quiet",
        "/proc/sys/kernel/osrelease": "6.8.0",
        "/proc/sys/kernel/sched_rt_runtime_us": "950000",
        "/proc/sys/kernel/sched_rt_period_us": "1000000",
        "/proc/sys/kernel/watchdog": "1",
        "/proc/sys/kernel/timer_migration": "1",
        "/proc/sys/kernel/numa_balancing": "1",
        "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
        "/sys/devices/virtual/workqueue/cpumask": f"{sum(1 << cpu for cpu in cpus):x}",
        "/proc/irq/default_smp_affinity": f"{sum(1 << cpu for cpu in cpus):x}",
    }
    for core in cores:
        for cpu in core:
            files |= _cpu(cpu, format_cpu_list(core), states, cpu in fixed)
            if capacities:
                files[f"{CPUS}/cpu{cpu}/cpu_capacity"] = str(capacities[cpu])
    for number, where in ({24: listed, 25: listed} if irqs is None else irqs).items():
        files[f"/proc/irq/{number}/smp_affinity_list"] = where
        files[f"/proc/irq/{number}/device{number}/.keep"] = ""
    if cgroup == 2:
        files |= {
            "/proc/mounts": f"cgroup2 {V2} cgroup2 rw 0 0\n",
            f"{V2}/cgroup.controllers": "cpuset cpu io memory pids",
            f"{V2}/cgroup.subtree_control": "cpu memory",
            f"{V2}/cgroup.procs": "1\n",
            f"{V2}/cpuset.cpus.isolated": "",
        }
    elif cgroup == 1:
        files |= {
            "/proc/mounts": f"cgroup {V1} cgroup rw,cpuset 0 0\n",
            f"{V1}/cpuset.cpus": listed,
            f"{V1}/cpuset.mems": "0",
            f"{V1}/cpuset.sched_load_balance": "1",
            f"{V1}/release_agent": "",
            f"{V1}/tasks": "1\n2\n",
        }
    for name, text in {**files, **(more or {})}.items():
        place = root / name.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return root


def snapshot(root: Path) -> dict[str, str]:
    """All files and what they hold."""
    return {
        str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()
    }


@dataclass
class FakeSettings:
    """Changes a tree and plays the kernel's part: what CPUs, partitions and refusals do to other files.

    Attributes:
        root: of the tree.
        refuses: whether the kernel refuses this write.
        fails_at: the number of the change, from 0, that fails as if the machine were gone; None: none.
    """

    root: Path
    refuses: Callable[[Write], bool] = lambda _: False
    fails_at: int | None = None
    applied: list[Change] = field(default_factory=list)
    ended: str = ""
    _undo: list[Callable[[], None]] = field(default_factory=list)

    def apply(self, change: Change) -> None:
        assert not self.ended
        if len(self.applied) == self.fails_at:
            raise SettingError("as the test wants it")
        self.applied.append(change)
        match change:
            case Write(path, value, undo):
                place = self._place(path)
                if self.refuses(change) or not place.exists():
                    raise SettingError(f"{path} refuses")
                before = place.read_text()
                self._undo.append(lambda: self._write(path, before if undo is None else undo))
                self._write(path, value)
            case MakeFolder(path):
                self._make_group(path)
            case MoveTasks(source, target):
                here, there = self._place(source), self._place(target)
                before = here.read_text()
                there.write_text(before)
                here.write_text("")
                self._undo.append(lambda: here.write_text(before) and None)
            case _:
                self._undo.append(lambda: None)

    def undo(self) -> tuple[str, ...]:
        assert not self.ended
        while self._undo:
            self._undo.pop()()
        self.ended = "undone"
        return ()

    def leave(self) -> None:
        self.ended = "left"

    def _place(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def _read(self, path: str) -> str:
        return self._place(path).read_text().strip()

    def _write(self, path: str, value: str) -> None:
        if path.endswith("cgroup.subtree_control"):
            words = set(self._read(path).split()) - {value[1:]} | ({value[1:]} if value[0] == "+" else set())
            value = " ".join(sorted(words))
        if path.endswith("transparent_hugepage/enabled"):
            assert value in ("always", "madvise", "never")
            value = " ".join(f"[{one}]" if one == value else one for one in ("always", "madvise", "never"))
        self._place(path).write_text(value)
        if path.endswith("/online"):
            cpu = int(path.split("/")[-2].removeprefix("cpu"))
            self._set_online(cpu, value == "1")
        elif path.endswith("smt/control"):
            self._set_smt(value)
        elif path.endswith("cpuset.cpus.partition"):
            cpus = self._read(path.replace(".partition", "")) if value == "isolated" else ""
            self._place(f"{V2}/cpuset.cpus.isolated").write_text(cpus)

    def _set_online(self, cpu: int, online: bool) -> None:
        cpus = set(parse_cpu_list(self._read(f"{CPUS}/online")) or ())
        cpus = cpus | {cpu} if online else cpus - {cpu}
        self._place(f"{CPUS}/online").write_text(format_cpu_list(cpus))
        switch = self._place(f"{CPUS}/cpu{cpu}/online")
        if switch.exists():
            switch.write_text("1" if online else "0")
        if not online:  # for good: what the knobs must journal before
            for irq in self._place("/proc/irq").glob("*/smp_affinity_list"):
                left = set(parse_cpu_list(irq.read_text().strip()) or ()) - {cpu}
                irq.write_text(format_cpu_list(left or cpus))

    def _set_smt(self, value: str) -> None:
        for topology in self._place(CPUS).glob("cpu[0-9]*/topology/core_cpus_list"):
            for cpu in (parse_cpu_list(topology.read_text()) or ())[1:]:
                self._set_online(cpu, value == "on")

    def _make_group(self, path: str) -> None:
        folder = self._place(path)
        folder.mkdir()
        names = (
            (
                "cgroup.type",
                "cgroup.subtree_control",
                "cgroup.procs",
                "cgroup.threads",
                "cpuset.cpus",
                "cpuset.cpus.exclusive",
                "cpuset.cpus.partition",
            )
            if path.startswith(f"{V2}/tauto")
            else ("cpuset.cpus", "cpuset.mems", "tasks", "cgroup.procs")
        )
        for name in names:
            (folder / name).write_text("member" if name.endswith("partition") else "")
        if path.startswith(V1):
            (folder / "cpuset.sched_load_balance").write_text("1")

        def remove() -> None:
            for one in folder.iterdir():
                one.unlink()
            folder.rmdir()

        self._undo.append(remove)


def _cpu(cpu: int, siblings: str, states: Sequence[tuple[int, str]], fixed: bool) -> dict[str, str]:
    folder = f"{CPUS}/cpu{cpu}"
    files = {f"{folder}/topology/core_cpus_list": siblings}
    if not fixed:
        files[f"{folder}/online"] = "1"
    for number, (latency_us, name) in enumerate(states):
        files |= {
            f"{folder}/cpuidle/state{number}/name": name,
            f"{folder}/cpuidle/state{number}/latency": str(latency_us),
            f"{folder}/cpuidle/state{number}/disable": "0",
        }
    return files
