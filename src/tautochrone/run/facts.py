"""The facts about a machine as typed records, and how facts of stored runs become such records.

Nothing is a guess: what can't be known is None. The ending of a number's name is its unit.
"""

import re
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct, field

from tautochrone.base.errors import DamagedError

FactTable = dict[str, dict[str, object]]
"""Facts as JSON: group -> name -> text, number, truth value, list of these, or None."""

UPGRADES: tuple[Callable[[FactTable], FactTable], ...] = ()
"""The steps from each version of stored facts to the next, the first from version 1 to 2."""

VERSION = len(UPGRADES) + 1
"""The version of these records. It is stored as ``reading.version`` from version 2 on."""


def kernel_number(release: str | None) -> tuple[int, int] | None:
    """Return major and minor number of a release such as ``6.12.4-rt1``; None if there are none."""
    match = re.match(r"(\d+)\.(\d+)", release or "")
    return (int(match[1]), int(match[2])) if match else None


class MachineFacts(Struct, frozen=True):
    """The machine as its firmware names it."""

    vendor: str | None = None
    product: str | None = None
    board: str | None = None
    firmware: str | None = None
    architecture: str | None = None
    hostname: str | None = None
    """None unless asked for: a run may be shown to anybody."""


class KernelFacts(Struct, frozen=True):
    """The kernel that ran."""

    name: str | None = None
    release: str | None = None
    version: str | None = None
    realtime: bool | None = None
    """Whether it is a PREEMPT_RT kernel."""
    realtime_found_by: str | None = None
    preemption: str | None = None
    """``none``, ``voluntary``, ``full``, ``lazy``; or two joined by ``or`` where either is possible."""
    preemption_found_by: str | None = None
    preemption_dynamic: bool | None = None
    """Whether ``preempt=`` on the kernel's command line chooses the model."""
    co_kernel: str | None = None
    """A real-time core beside Linux, such as Xenomai; None if no sign of one."""
    co_kernel_settings: tuple[str, ...] | None = None
    """What it tells of itself, as ``name=value``: ``watchdog_timeout`` in seconds, ``smi``, ``gravity``.
    None: there is no such core."""
    fair_server: bool | None = None
    """Whether a deadline server guards ordinary threads (6.12 and later) in place of RT throttling."""
    fair_server_found_by: str | None = None
    fair_server_runtimes_ns: tuple[int, ...] | None = None
    """The distinct shares of all CPUs' deadline servers in each of their periods; 0 is off. None: not
    told."""
    console_level: int | None = None
    """Messages more urgent than this number go to the consoles at once."""
    consoles: tuple[str, ...] | None = None
    tick_hz: int | None = None
    options: tuple[str, ...] | None = None
    """The `RELEVANT_OPTIONS` that are set, as ``NAME=value``; None if the configuration can't be read."""
    options_from: str | None = None
    command_line: str | None = None
    """Kernel parameters. What follows ``--`` is meant for init and is not stored."""
    mitigations: tuple[str, ...] | None = None
    """``name: state`` for each CPU vulnerability the kernel knows and this CPU has."""

    @property
    def number(self) -> tuple[int, int] | None:
        """Major and minor number of the release; None if it has none."""
        return kernel_number(self.release)

    def option(self, name: str) -> str | None:
        """Return the value of a build option: ``y``, ``m``, a number; ``n`` if not set; None if unknown."""
        if self.options is None:
            return None
        return next((text.partition("=")[2] for text in self.options if text.startswith(f"{name}=")), "n")

    def core_setting(self, name: str) -> str | None:
        """Return what the real-time core beside Linux tells under this name; None if nothing."""
        told = (text.partition("=") for text in self.co_kernel_settings or ())
        return next((value for known, _, value in told if known == name), None)

    def parameter(self, name: str) -> str | None:
        """The last value of ``name=value`` on the command line; empty for a bare ``name``; None if absent."""
        value = None
        for word in (self.command_line or "").split():
            key, _, text = word.partition("=")
            if key.replace("-", "_") == name.replace("-", "_"):
                value = text
        return value


class CpuFacts(Struct, frozen=True):
    """The processor. CPU lists are written as the kernel does: ``0-3,6``."""

    model: str | None = None
    online: str | None = None
    online_count: int | None = None
    allowed: str | None = None
    """The CPUs on which this process may run (affinity and cpuset), of those on line."""
    allowed_count: int | None = None
    cores: int | None = None
    threads_per_core: int | None = None
    siblings: tuple[str, ...] | None = None
    """The CPUs of each core that has several on line, as CPU lists."""
    sockets: int | None = None
    numa_nodes: int | None = None
    smt_control: str | None = None
    """``on``, ``off``, ``forceoff``, ``notsupported`` or ``notimplemented``."""
    smt_active: bool | None = None
    capacities: tuple[int, ...] | None = None
    """The distinct relative speeds of the CPUs; more than one on machines with unlike cores."""
    kinds: tuple[str, ...] | None = None
    """The kinds of cores of a hybrid x86 processor, as ``name: CPU list``; None of any other."""
    caches: tuple[str, ...] | None = None
    """The caches of the first CPU."""
    isolated: str | None = None
    nohz_full: str | None = None


class IsolationFacts(Struct, frozen=True):
    """Isolation beyond the list of isolated CPUs, which is in `CpuFacts`."""

    partitioned: str | None = None
    """CPUs in isolated cpuset partitions (cgroup v2); None where this kernel does not tell."""
    partitions: tuple[str, ...] | None = None
    """Partitions just below the root of cgroup v2, as ``name: state, CPU list``; None without cpusets
    there."""
    load_balanced: bool | None = None
    """Of cpusets of cgroup v1, whether the scheduler balances load over all CPUs; None without them."""
    workqueue_cpus: str | None = None
    """CPUs on which the kernel's unbound work may run."""
    rcu_offloaded: str | None = None
    """``rcu_nocbs=`` on the kernel's command line; empty for a bare one, which names no CPU."""


class PowerFacts(Struct, frozen=True):
    """Frequency scaling and idle states of the CPUs on line. Lists with a common prefix are parallel."""

    frequency_driver: str | None = None
    governors: tuple[str, ...] | None = None
    governor_cpus: tuple[str, ...] | None = None
    """For each of `governors` the CPUs that it governs."""
    minimum_khz: int | None = None
    maximum_khz: int | None = None
    boost: bool | None = None
    idle_driver: str | None = None
    idle_governor: str | None = None
    idle_states: tuple[str, ...] | None = None
    idle_exit_latencies_us: tuple[int, ...] | None = None
    """For each of `idle_states` the time to leave it, as the driver states it (the longest of all CPUs)."""
    idle_enabled_cpus: tuple[str, ...] | None = None
    """For each of `idle_states` the CPUs on which it is enabled; empty if on none."""
    latency_limit_us: int | None = None
    """The longest exit latency that programs allow now, by holding ``/dev/cpu_dma_latency``; -1 for any."""
    resume_limits_us: tuple[int, ...] | None = None
    """The exit latencies that single CPUs are held to (``pm_qos_resume_latency_us``); None if none is."""
    resume_limit_cpus: tuple[str, ...] | None = None
    """For each of `resume_limits_us` the CPUs."""
    thermal_throttles: int | None = None
    """How often a CPU was slowed because of heat since boot: the largest count of all CPUs on line (x86)."""


class InterruptFacts(Struct, frozen=True):
    """Sources of interrupts that can be steered."""

    default_affinity: str | None = None
    """CPU mask, hexadecimal, that new interrupts get."""
    on_isolated_cpus: tuple[str, ...] | None = None
    """Interrupts served on isolated CPUs, as ``number name``; None if no CPU is isolated, or unknown."""
    nmi_watchdog: bool | None = None
    soft_watchdog: bool | None = None
    watchdog_cpus: str | None = None
    irqbalance: bool | None = None
    """Whether a daemon moves interrupts from CPU to CPU, as its socket in ``/run`` shows."""


class ClockFacts(Struct, frozen=True):
    """Time keeping."""

    source: str | None = None
    available_sources: tuple[str, ...] | None = None
    tsc_flags: tuple[str, ...] | None = None
    """What the CPU says of its time stamp counter; None where there are no x86 flags."""
    resolution_ns: int | None = None
    """clock_getres(2) of CLOCK_MONOTONIC."""
    high_resolution: bool | None = None
    """Whether timers expire when they are due rather than at the next tick."""
    high_resolution_found_by: str | None = None
    timer_migration: bool | None = None
    """Whether a timer that is set on an idle CPU may be moved to a busy one (``kernel.timer_migration``)."""


class MemoryFacts(Struct, frozen=True):
    """Memory and its management."""

    total_bytes: int | None = None
    swap_bytes: int | None = None
    swappiness: int | None = None
    transparent_huge_pages: str | None = None
    """``always``, ``madvise`` or ``never``."""
    transparent_huge_pages_defrag: str | None = None
    same_page_merging: bool | None = None
    numa_balancing: bool | None = None
    compact_locked_pages: bool | None = None
    """Whether compaction may move locked memory (``vm.compact_unevictable_allowed``)."""
    compaction_proactiveness: int | None = None


class ConfinementFacts(Struct, frozen=True):
    """Virtual machine, container, control group."""

    virtual: bool | None = None
    """Whether this is a virtual machine, as far as a guest can see."""
    hypervisor: str | None = None
    virtual_found_by: str | None = None
    stolen_seconds: float | None = None
    """CPU time since boot in which the host ran something else while a CPU here was ready to run."""
    cpu_seconds: float | None = None
    """CPU time since boot, all CPUs, idle time included."""
    container: str | None = None
    """``docker``, ``podman``, …, ``none`` if there is no sign of one."""
    user_namespace: bool | None = None
    """Whether this process lives in a user namespace of its own: capabilities held there don't count for the
    scheduler."""
    cgroup: str | None = None
    cgroup_version: int | None = None
    cpu_quota_us: int | None = None
    """CPU time per `cpu_quota_period_us` that ordinary threads of this group may use; -1 for no limit."""
    cpu_quota_period_us: int | None = None
    memory_limit_bytes: int | None = None
    """The lowest limit of this group and those above it, at which memory is taken back or a process is ended;
    -1 for none."""
    memory_throttle_bytes: int | None = None
    """The lowest ``memory.high``, above which threads that ask for memory are slowed; -1 for none."""
    rt_budget_us: int | None = None
    """``cpu.rt_runtime_us`` of this group (cgroup v1 with CONFIG_RT_GROUP_SCHED); None elsewhere."""


class LimitFacts(Struct, frozen=True):
    """Limits of this process and of real-time threads in general. -1 stands for unlimited."""

    rt_priority: int | None = None
    """RLIMIT_RTPRIO, soft: the highest priority this process may take without CAP_SYS_NICE."""
    rt_time_us: int | None = None
    """RLIMIT_RTTIME, soft: CPU time a real-time thread may use without sleeping."""
    memory_lock_bytes: int | None = None
    """RLIMIT_MEMLOCK, soft."""
    cap_sys_nice: bool | None = None
    cap_ipc_lock: bool | None = None
    rt_runtime_us: int | None = None
    rt_period_us: int | None = None
    timer_slack_ns: int | None = None


class TracingFacts(Struct, frozen=True):
    """Tracers, events, probes. From `tracer` on all None where tracefs is not mounted or may not be read."""

    built_in: bool | None = None
    """Whether the kernel was built with tracing; None if its configuration can't be read."""
    stack_tracer: bool | None = None
    """Whether every kernel function measures its stack (``kernel.stack_tracer_enabled``)."""
    bpf_statistics: bool | None = None
    """Whether the run time of every BPF program is taken (``kernel.bpf_stats_enabled``)."""
    tracer: str | None = None
    """The current tracer; ``nop`` for none."""
    events: bool | None = None
    """Whether any trace event is enabled."""
    recording: bool | None = None
    """Whether the ring buffer takes what comes (``tracing_on``)."""
    instances: tuple[str, ...] | None = None
    """Trace instances beside the main one, as tools such as rtla make them."""
    kernel_probes: int | None = None
    """Dynamic probes (kprobes) set through tracefs."""


class FirmwareFacts(Struct, frozen=True):
    """Firmware, and the polling of hardware for errors."""

    uptime_s: float | None = None
    smi_count: int | None = None
    """System management interrupts since the processor was reset; None where it does not count them, or where
    the counter can't be read."""
    smi_counter: bool | None = None
    """Whether this kind of processor counts them; None if its maker is unknown."""
    efi: bool | None = None
    """Whether the machine was booted by EFI."""
    corrected_errors_ignored: bool | None = None
    """Whether corrected hardware errors are not looked for (x86)."""
    error_poll_interval_s: int | None = None
    """How often each CPU looks for hardware errors that were corrected (x86); 0 for never."""
    pcie_policy: str | None = None
    """How PCI Express links save power: ``default`` (as the firmware left it), ``performance``, …"""


class ReadingFacts(Struct, frozen=True):
    """How the facts were read."""

    effective_uid: int | None = None
    refused: tuple[str, ...] | None = None
    """Paths that are there but that this user may not read."""

    def reason(self, *paths: str) -> str:
        """Return why none of these paths gave an answer, in words."""
        if refused := [path for path in paths if path in (self.refused or ())]:
            return f"{refused[0]} may not be read by this user"
        return f"{paths[0]} is not there" if len(paths) == 1 else f"neither {' nor '.join(paths)} is there"


class Facts(Struct, frozen=True):
    """Everything that is known about a machine, one group per concern."""

    machine: MachineFacts = field(default_factory=MachineFacts)
    kernel: KernelFacts = field(default_factory=KernelFacts)
    cpu: CpuFacts = field(default_factory=CpuFacts)
    isolation: IsolationFacts = field(default_factory=IsolationFacts)
    power: PowerFacts = field(default_factory=PowerFacts)
    interrupts: InterruptFacts = field(default_factory=InterruptFacts)
    clock: ClockFacts = field(default_factory=ClockFacts)
    memory: MemoryFacts = field(default_factory=MemoryFacts)
    confinement: ConfinementFacts = field(default_factory=ConfinementFacts)
    limits: LimitFacts = field(default_factory=LimitFacts)
    tracing: TracingFacts = field(default_factory=TracingFacts)
    firmware: FirmwareFacts = field(default_factory=FirmwareFacts)
    reading: ReadingFacts = field(default_factory=ReadingFacts)

    def named(self, name: str) -> object:
        """Return the fact of this name, such as ``kernel.release``."""
        group, _, fact = name.partition(".")
        value: object = getattr(getattr(self, group), fact)
        return value

    def to_table(self) -> FactTable:
        """Return the facts as JSON values, as they are stored with a run."""
        table = {
            group: {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in msgspec.structs.asdict(facts).items()
            }
            for group, facts in msgspec.structs.asdict(self).items()
        }
        if VERSION > 1:
            table["reading"]["version"] = VERSION
        return table

    @classmethod
    def from_table(cls, table: FactTable) -> "Facts":
        """Load facts as stored with a run, of this version or an earlier one.

        Names that this version does not know are ignored, names that are missing are None.

        Raises:
            DamagedError: a value is not of the kind that its name stands for.
        """
        for step in UPGRADES[_version(table) - 1 :]:
            table = step({group: dict(facts) for group, facts in table.items()})
        try:
            return msgspec.convert(table, cls)
        except msgspec.ValidationError as error:
            raise DamagedError(_damage(table) or f"the facts can't be read: {error}") from error


def _version(table: FactTable) -> int:
    """Return of which version stored facts are; those that do not tell are of the first."""
    reading = table.get("reading")
    version = reading.get("version") if isinstance(reading, Mapping) else None
    return version if isinstance(version, int) and version > 0 else 1


def _damage(table: FactTable) -> str:
    """Return which fact is not of its kind; empty: none of the known ones."""
    for group in msgspec.structs.fields(Facts):
        stored = table.get(group.name, {})
        if not isinstance(stored, Mapping):
            return f"the facts {group.name} can't be {stored!r}"
        for fact in msgspec.structs.fields(group.type):
            value = stored.get(fact.name)
            try:
                msgspec.convert(value, fact.type)
            except msgspec.ValidationError:
                shown = tuple(value) if isinstance(value, list) else value
                return f"the fact {group.name}.{fact.name} can't be {shown!r}"
    return ""
