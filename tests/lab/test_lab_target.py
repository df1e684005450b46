"""A virtual machine of the lab as a target: its runs know no host, and nothing of it stays."""

import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pytest

from cells import worded
from lab import come_out_alike, guest_kernel, lab_qemu
from real import PATIENCE_S, only_run, start_tauto, tauto, wait_until
from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.measure.cell import IDLE
from tautochrone.measure.execute import run_cell
from tautochrone.run.store import Store
from tautochrone.target.address import read_lab_address
from tautochrone.target.virtual import target as target_module
from tautochrone.target.virtual.guest import GuestProgram
from tautochrone.target.virtual.machine import BootableMachine
from tautochrone.target.virtual.qemu import SEVERAL_COUNTED, Qemu, find_qemu
from tautochrone.target.virtual.target import VirtualTarget, boot

pytestmark = [pytest.mark.lab, pytest.mark.slow]

LAB = "lab:debian-rt"
_LOOP = ("cyclic", "--period", "1ms", "--count", "300")


@pytest.fixture
def target() -> Iterator[VirtualTarget]:
    guest_kernel("debian:rt")
    with closing(boot(read_lab_address("debian-rt"))) as opened:
        yield opened


def stream(target: VirtualTarget, pause_s: float) -> bytes:
    """The bytes of a run on a busy host in a guest that was just booted, read by one who takes his time."""
    target.renew()
    target.ask(["--version"])
    with busy_host():
        running = target.start_probe(_LOOP)
        read = []
        while data := running.read():
            read.append(data)
            time.sleep(pause_s)
        assert running.end().exit_code == 0
    return b"".join(read)


@contextmanager
def busy_host() -> Iterator[None]:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def guests_of(pid: int) -> list[int]:
    """The virtual machines of a lab that runs: children of its threads."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it has just ended
            found += [int(child) for child in (task / "children").read_text().split()]
    return [child for child in found if is_guest(child)]


def is_guest(pid: int) -> bool:
    """A lab also asks QEMU for its version; what is asked so ends at once."""
    with suppress(OSError):
        return b"ivshmem" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def test_a_slow_reader_on_a_busy_host_gets_the_same_bytes_and_a_dead_guest_says_why(
    target: VirtualTarget,
) -> None:
    assert come_out_alike(lambda: stream(target, 0.0), lambda: stream(target, 0.3))
    GuestProgram(target.guest(), ["/bin/sh", "-c", "echo c >/proc/sysrq-trigger"], {})
    with pytest.raises(MeasuringError, match=r"has died; its console says: .*sysrq triggered crash"):
        target.ask(["--version"])


def test_doctor_looks_at_the_guest(tmp_path: Path) -> None:
    guest_kernel("debian:rt")
    looked = tauto("doctor", "--on", LAB, store=tmp_path)
    assert looked.returncode == 0, looked.stderr
    assert "preempt-rt: The kernel is PREEMPT_RT" in looked.stdout
    assert "kernel-debugging: Kernel debugging options are unknown" not in looked.stdout
    assert "note: virtual-machine: This is a guest of the virtual lab" in looked.stdout
    assert "tsc-stability" not in looked.stdout


@pytest.mark.parametrize(
    ("on", "repeats", "counts"),
    [("debian-rt", True, True), ("debian-rt,smp=2", False, False), ("debian-rt/arm64,smp=2", False, True)],
)
def test_before_qemu_10_only_one_cpu_surely_repeats(
    on: str, repeats: bool, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAUTO_QEMU", "host")
    address = read_lab_address(on)
    guest_kernel(address.kernel)
    with closing(boot(address)) as target:
        virtual = target.virtual()
    if int(virtual.qemu.partition(".")[0]) < SEVERAL_COUNTED[0]:
        assert (virtual.repeatable, virtual.shift is not None) == (repeats, counts)


@pytest.mark.parametrize(
    ("on", "turn_us", "repeats"),
    [("debian-rt", None, True), ("debian-rt,smp=2", 10, True), ("debian-rt/arm64,smp=4,turn=5us", 5, False)],
)
def test_the_labs_own_qemu_gives_several_cpus_turns(on: str, turn_us: int | None, repeats: bool) -> None:
    address = read_lab_address(on)
    if not lab_qemu():
        pytest.skip("the lab's own QEMU can't be had")
    guest_kernel(address.kernel)
    with closing(boot(address)) as target:
        virtual = target.virtual()
    assert (virtual.repeatable, virtual.turn_us, virtual.shift) == (repeats, turn_us, 1)
    assert ("filter-buffer" in virtual.command_line) == (turn_us is not None)
    assert virtual.qemu.startswith("10.")


def test_a_folder_without_qemu_and_one_that_does_not_run_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TAUTO_QEMU", str(tmp_path))
    with pytest.raises(UsageError, match="qemu-system-x86_64 does not run") as refused:
        find_qemu("x86_64")
    assert "TAUTO_QEMU" in refused.value.advice


def test_nothing_of_the_hosts_environment_reaches_a_guest(
    target: VirtualTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = worded("cyclic", _LOOP[1:], "a loop", IDLE, 0.3)

    def samples(journal: str | None) -> bytes:
        if journal is None:
            monkeypatch.delenv("TAUTO_JOURNAL", raising=False)
        else:
            monkeypatch.setenv("TAUTO_JOURNAL", journal)
        return (run_cell(cell, Store(tmp_path / "store"), target, {}).path / "samples.parquet").read_bytes()

    named = str(tmp_path / "a-long-name-of-a-journal")
    assert come_out_alike(lambda: samples(None), lambda: samples(named))


_LATE = """
#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <time.h>

static void leave(const char *name, sigjmp_buf where, int with)
{
    static __thread unsigned times, chance = 1;
    chance = chance * 1103515245u + 12345u;
    if (++times % 64 == 0 && (chance >> 16) % 8 == 0) {
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    void (*real)(sigjmp_buf, int) = (void (*)(sigjmp_buf, int))dlsym(RTLD_NEXT, name);
    real(where, with);
    abort();
}
void __longjmp_chk(sigjmp_buf where, int with) { leave("__longjmp_chk", where, with); }
void siglongjmp(sigjmp_buf where, int with) { leave("siglongjmp", where, with); }
"""
"""A virtual CPU ends what it executes by this jump, and counts it then: here that is late now and then."""


def test_a_main_loop_that_comes_before_a_halted_cpu_has_counted_does_not_move_the_clock(
    target: VirtualTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = worded("cyclic", _LOOP[1:], "a loop", IDLE, 0.3)

    def samples() -> bytes:
        return (run_cell(cell, Store(tmp_path / "store"), target, {}).path / "samples.parquet").read_bytes()

    usual = samples()
    (tmp_path / "late.c").write_text("#define _GNU_SOURCE\n" + _LATE)
    late = tmp_path / "late.so"
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "-o", late, tmp_path / "late.c"], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(late))
    assert samples() == usual


_OLD_LOOKUP = """
#include <dlfcn.h>
#include <stddef.h>

typedef void *lookup(void *handle, const char *name);

void *dlsym(void *handle, const char *name)
{
    lookup *real = (lookup *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    void *oldest = handle == RTLD_NEXT ? dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5") : NULL;
    return oldest != NULL ? oldest : real(handle, name);
}
"""
"""As before glibc 2.36, on x86-64: the oldest version of a function is found."""

_WOKEN = """
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_there;

static void *be_there(void *nothing)
{
    pthread_mutex_lock(&shared);
    is_there = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&shared);
    return nothing;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&shared);
    pthread_create(&thread, NULL, be_there, NULL);
    while (!is_there) {
        pthread_cond_wait(&condition, &shared);
    }
    return 0;
}
"""
"""As QEMU's main thread waits for that of a virtual CPU."""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="conditions have had one version only here")
def test_the_library_in_qemu_waits_as_qemu_wakes_whatever_version_is_found_first(tmp_path: Path) -> None:
    made = {"old.so": (_OLD_LOOKUP, "-shared", "-fPIC"), "woken": (_WOKEN, "-pthread")}
    for name, (code, *words) in made.items():
        (tmp_path / f"{name}.c").write_text("#define _GNU_SOURCE\n" + code)
        subprocess.run(["cc", "-w", *words, "-o", tmp_path / name, tmp_path / f"{name}.c"], check=True)
    environment = {**os.environ, "LD_PRELOAD": f"{target_module._clock()}:{tmp_path / 'old.so'}"}
    subprocess.run([tmp_path / "woken"], env=environment, check=True, timeout=PATIENCE_S)


def test_a_lab_whose_library_was_not_built_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_module, "_CLOCK", "tauto-lab-clock-that-is-not-there.so")
    guest_kernel("debian:rt")
    with (
        closing(boot(read_lab_address("debian-rt"))) as target,
        pytest.raises(UsageError, match="not beside tauto-probe") as refused,
    ):
        target.ask(["--version"])
    assert refused.value.advice == "Install the project with `make setup`."


@pytest.mark.parametrize("shift", [None, 1])
def test_only_a_qemu_that_counts_instructions_waits_for_its_cpu(
    monkeypatch: pytest.MonkeyPatch, shift: int | None
) -> None:
    """That of another one lets the guest's timers expire: those of a busy guest came a second late."""
    monkeypatch.setenv("LD_PRELOAD", "known.so")
    qemu = Qemu("qemu-system-x86_64", "7.2")
    machine = BootableMachine(cast(Any, None), cast(Any, None), (), qemu, "", shift, None, 2)
    given = target_module._environment(machine, 7)["LD_PRELOAD"]
    assert given == ("known.so" if shift is None else "/proc/self/fd/7:known.so")


def test_ctrl_c_keeps_what_was_measured_and_the_report_says_what_it_is(tmp_path: Path) -> None:
    guest_kernel("debian:rt")
    lab = start_tauto("probe", "cyclic", "--duration", "1h", "--on", LAB, store=tmp_path)
    wait_until(lambda: any(one.stat().st_size > 20_000 for one in tmp_path.glob("*/stream*")), "it measures")
    lab.send_signal(signal.SIGINT)
    said, _ = lab.communicate(timeout=PATIENCE_S)
    assert lab.returncode == 130
    run = only_run(tmp_path)
    assert (run.manifest.state, run.manifest.ended) == ("sealed", "interrupted")
    assert run.manifest.facts["kernel"]["release"].endswith("-rt-amd64")
    assert "Virtual lab: ended at an instant that the host chose, so it does not repeat." in said
    assert str(run.manifest.conditions.stored["virtual"]["machine"]) in said
    page = tmp_path / "report.html"
    assert tauto("report", run.manifest.id, "--out", str(page), store=tmp_path).returncode == 0
    assert "In the virtual lab" in page.read_text()
    assert 'class="band"' in page.read_text()


def test_a_lab_that_is_killed_takes_its_guests_along(tmp_path: Path) -> None:
    guest_kernel("debian:rt")
    lab = start_tauto("probe", "cyclic", "--on", LAB, store=tmp_path)
    wait_until(lambda: len(guests_of(lab.pid)) == 2, "one guest boots for the facts, one to measure on")
    guests = guests_of(lab.pid)
    lab.kill()
    lab.communicate()
    wait_until(lambda: not any(Path(f"/proc/{one}/exe").exists() for one in guests), "the guests have ended")
    assert list(tmp_path.iterdir()) == []
