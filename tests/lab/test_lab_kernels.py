"""The kernels of the virtual lab: what is taken, that it stays whole, and what guests are made of."""

import errno
import gzip
import json
import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from guest_programs import fetch_program
from kernel_files import RELEASE, arm64_image, bzimage, module, vmlinux, write_modules
from real import PATIENCE_S, skip_or_fail, tauto
from tautochrone.base.errors import DamagedError, MeasuringError, StoreError, TautoError, UsageError
from tautochrone.target.virtual.cache import (
    cache_folder,
    folder_of,
    is_whole,
    tell_nobody,
    whole_folder,
    write_whole,
)
from tautochrone.target.virtual.fetch import adopt_kernel, read_boot_image
from tautochrone.target.virtual.forget import folders_of
from tautochrone.target.virtual.image import build_image
from tautochrone.target.virtual.kernels import Kernel, find_kernel, own_kernels, remember_kernel
from tautochrone.target.virtual.qemu import fetch_qemu

_APPLETS = b"\0" + b"".join(f"applet{number}\0".encode() for number in range(120)) + b"\0"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with a busybox, and probes beside it."""
    place = tmp_path / "cache"
    monkeypatch.setenv("TAUTO_KERNELS", str(place))
    (place / "tools").mkdir(parents=True)
    probes = tmp_path / "probes"
    probes.mkdir()
    monkeypatch.setenv("TAUTO_PROBES", str(probes))
    for architecture in ("x86_64", "aarch64"):
        with whole_folder(place / "packages" / architecture) as content:
            (content / "busybox").write_bytes(_APPLETS)
        record = {"busybox": f"packages/{architecture}/busybox"}
        (place / "tools" / f"busybox-{architecture}.json").write_text(json.dumps(record))
        (probes / f"tauto-agent-{architecture}").write_text(f"the agent of {architecture}")
        (probes / f"tauto-probe-{architecture}").write_text(f"the probe of {architecture}")
    return place


def adopted(folder: Path, name: str = "mine", content: bytes = b"") -> Kernel:
    folder.mkdir(exist_ok=True)
    (folder / "kernel").write_bytes(content or bzimage(vmlinux(), "xz"))
    (folder / f"config-{RELEASE}").write_text("CONFIG_PREEMPT_RT=y\nCONFIG_TIMERLAT_TRACER=y\n")
    return adopt_kernel(name, folder / "kernel", write_modules(folder), tell_nobody)


def answering_no(folder: Path, *words: str) -> tuple[bytes, int]:
    """What a person at a terminal sees who says no, and how tauto ends then."""
    own, theirs = pty.openpty()
    main = "from tautochrone.cli.app import main; main()"
    command = (sys.executable, "-c", main, *words)
    asking = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder)
    os.close(theirs)
    os.write(own, b"n\n")
    shown = b""
    with suppress(OSError):  # its end
        while piece := os.read(own, 65536):
            shown += piece
    os.close(own)
    return shown, asking.wait(PATIENCE_S)


@pytest.mark.parametrize("packing", ["gzip", "lz4", "lzma", "xz", "zstd"])
def test_a_bzimage_boots_as_the_elf_file_that_is_in_it(packing: str) -> None:
    found = read_boot_image(bzimage(vmlinux(), packing), "a kernel")
    assert (found.architecture, found.release, found.content) == ("x86_64", RELEASE, vmlinux())


def test_a_bzimage_without_the_entry_for_qemu_boots_as_it_is() -> None:
    whole = bzimage(vmlinux(pvh=False), "gzip")
    assert read_boot_image(whole, "a kernel").content == whole
    with pytest.raises(UsageError, match="PVH") as refused:
        read_boot_image(vmlinux(pvh=False), "a kernel")
    assert "bzImage" in refused.value.advice


def test_an_image_of_arm64_boots_as_it_is() -> None:
    found = read_boot_image(arm64_image(), "a kernel")
    assert (found.architecture, found.content) == ("aarch64", arm64_image())


def test_an_image_of_arm64_may_be_packed_and_one_whose_end_is_missing_is_refused() -> None:
    packed = gzip.compress(arm64_image())
    assert read_boot_image(packed, "a kernel").content == arm64_image()
    with pytest.raises(UsageError, match="its end is missing"):
        read_boot_image(packed[:-20], "a kernel")


@pytest.mark.parametrize(
    "content",
    [b"", b"#!/bin/sh\n", vmlinux()[:150], *(bzimage(vmlinux(), "xz")[:end] for end in (530, 1200))],
)
def test_what_is_no_kernel_is_refused(content: bytes) -> None:
    with pytest.raises(UsageError):
        read_boot_image(content, "a file")


@pytest.mark.slow
def test_a_kernel_of_ones_own_is_found_by_its_name(tmp_path: Path) -> None:
    kernel = adopted(tmp_path / "build")
    assert find_kernel("mine") == kernel
    assert own_kernels() == ["mine"]
    assert kernel.image.read_bytes() == vmlinux()
    assert kernel.modules is not None
    assert kernel.modules.name == RELEASE
    listed = json.loads(tauto("lab", "kernels", "--json", store=tmp_path).stdout)["kernels"]
    mine = next(one for one in listed if one["name"] == "mine")
    assert (mine["preemption"], mine["tracers"], mine["sha256"]) == ("rt", ["timerlat"], kernel.sha256)
    assert [one["name"] for one in listed if one["fetched"]] == ["mine"]


def test_a_kernel_that_is_not_there_is_told_with_the_command_that_brings_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        find_kernel("debian-rt/arm64")
    assert "tauto lab fetch debian:rt/arm64" in refused.value.advice
    adopted(tmp_path / "build", "experimental")
    with pytest.raises(UsageError) as refused:
        find_kernel("experimentel")
    assert "Did you mean 'experimental'?" in refused.value.advice
    ended = tauto("lab", "fetch", "debian:tr", store=tmp_path)
    assert ended.returncode == 2
    assert "debian:rt" in ended.stderr


def test_a_damaged_kernel_is_found_out_and_can_be_brought_again(tmp_path: Path) -> None:
    kernel = adopted(tmp_path / "build")
    content = kernel.image.read_bytes()
    os.utime(kernel.image, (1, 1))
    assert find_kernel("mine") == kernel  # touched, and yet the same
    kernel.image.write_bytes(content[:-1] + b"x")
    with pytest.raises(DamagedError) as refused:
        find_kernel("mine")
    assert "--name mine" in refused.value.advice
    again = adopted(tmp_path / "again")
    assert find_kernel("mine") == again
    assert again.modules is not None
    (again.modules / "kernel" / "alpha.ko").write_bytes(module(""))
    with pytest.raises(DamagedError, match=r"alpha\.ko"):
        build_image(again, ["alpha"])


def test_a_folder_whose_files_a_power_failure_emptied_is_not_whole(tmp_path: Path) -> None:
    folder = folder_of(adopted(tmp_path / "build").image)
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    assert not is_whole(folder)


def test_images_that_nobody_used_for_long_and_halves_of_images_are_removed(tmp_path: Path) -> None:
    kernel = adopted(tmp_path / "build")
    for old in ("old.cpio", ".new-half"):
        write_whole(cache_folder() / "images" / old, b"")
        os.utime(cache_folder() / "images" / old, (1, 1))
    image = build_image(kernel)
    assert list((cache_folder() / "images").iterdir()) == [image.path]


def test_two_at_once_bring_it_whole(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        kernels = list(pool.map(lambda number: adopted(tmp_path / f"{number}"), range(4)))
    assert set(kernels) == {find_kernel("mine")}
    assert build_image(kernels[0], ["alpha"]).path.is_file()


def listed(image: Path) -> list[str]:
    """What another program finds in it."""
    command = ["busybox", "cpio", "-t"]
    with image.open("rb") as file:
        return subprocess.run(command, stdin=file, capture_output=True, text=True, check=True).stdout.split()


def test_an_image_is_the_same_to_the_byte_wherever_and_whenever_it_is_made(tmp_path: Path) -> None:
    further = tmp_path / "further"
    further.write_text("more")
    first = build_image(adopted(tmp_path / "one"), ["alpha"], {"/etc/more": further})
    content = first.path.read_bytes()
    first.path.unlink()
    os.utime(further, (1, 1))
    before = os.umask(0o077)
    try:
        second = build_image(adopted(tmp_path / "two"), ["alpha"], {"etc/more": further})
    finally:
        os.umask(before)
    assert second == first
    assert second.path.read_bytes() == content
    names = listed(first.path)
    assert names == sorted(names)
    assert {
        "init",
        "bin/tauto-agent",
        "bin/tauto-probe",
        "bin/busybox",
        "bin/applet7",
        "proc",
        "etc/more",
    } <= set(names)
    further.write_text("other")
    assert build_image(find_kernel("mine"), ["alpha"], {"etc/more": further}) != first


def test_a_cache_without_room_for_an_image_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = adopted(tmp_path / "build")

    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tautochrone.target.virtual.cache.tempfile.mkstemp", full)
    os.utime(kernel.image, (1, 1))
    assert find_kernel("mine") == kernel  # that it was read needs no room
    with pytest.raises(StoreError, match="No space left"):
        build_image(kernel)


def test_modules_come_after_those_that_they_need(tmp_path: Path) -> None:
    kernel = adopted(tmp_path / "build")
    built = tmp_path / "own.ko"
    built.write_bytes(module("gamma"))
    image = build_image(kernel, ["delta", built, "alpha"])
    modules = [name for name in listed(image.path) if name.endswith(".ko")]
    assert modules == [
        *("modules/000-beta_one.ko", "modules/001-gamma.ko", "modules/002-own.ko", "modules/003-alpha.ko"),
    ]
    with pytest.raises(UsageError) as refused:
        build_image(kernel, ["gama"])
    assert "Did you mean 'gamma'?" in refused.value.advice


def test_an_agent_that_was_not_built_is_told_with_what_builds_it(tmp_path: Path) -> None:
    kernel = adopted(tmp_path / "build")
    (tmp_path / "probes" / "tauto-agent-x86_64").unlink()
    with pytest.raises(UsageError) as refused:
        build_image(kernel)
    assert "make probes" in refused.value.advice


@pytest.mark.lab
@pytest.mark.slow
def test_packages_of_the_other_architecture_come_without_a_trace_in_this_machines_own(tmp_path: Path) -> None:
    machines_own = [
        Path("/var/lib/apt/lists"),
        Path("/var/lib/dpkg"),
        Path("/var/cache/apt"),
        Path("/etc/apt"),
    ]
    before = [path.stat().st_mtime_ns for path in machines_own]
    try:
        files = fetch_program("rt-tests", "usr/bin/cyclictest", "aarch64", ("libc6", "libnuma1"))
    except MeasuringError as error:
        skip_or_fail(f"Debian's packages can't be had: {error}")
    libraries = {"/lib/ld-linux-aarch64.so.1", "/usr/lib/aarch64-linux-gnu/libnuma.so.1"}
    assert {"/usr/bin/cyclictest", *libraries} <= set(files)
    assert [path.stat().st_mtime_ns for path in machines_own] == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("told", "kind", "said"),
    [
        ("Get:1 a list\nErr:1 a list", MeasuringError, "the lists of packages can't be brought: cut off"),
        ("Get:1 a list\nErr:2 a list", MeasuringError, "; but not all lists could be brought: cut off"),
        ("Get:1 a list\nHit:2 a list", UsageError, "has no package qemu-system-x86$"),
    ],
)
def test_lists_that_were_cut_off_are_not_taken_for_lists_without_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, kind: type[TautoError], said: str
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, script in (
        ("apt-get", f"[ $1 = indextargets ] && echo Debian bookworm x || echo '{told}'; echo W: cut off >&2"),
        ("apt-cache", "exit 100"),
        ("apt-config", "true"),
        ("dpkg", "echo amd64"),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with pytest.raises(kind, match=said):
        fetch_qemu(tell_nobody)


@pytest.mark.slow
def test_what_was_fetched_is_forgotten_and_what_another_kernel_needs_stays(
    tmp_path: Path, cache: Path
) -> None:
    first, second = adopted(tmp_path / "a", "first"), adopted(tmp_path / "b", "second")
    assert tauto("lab", "forget", "first", store=tmp_path).returncode == 2  # nobody can be asked
    assert first.image.is_file()
    forgotten = tauto("lab", "forget", "first", "--yes", store=tmp_path)
    assert forgotten.returncode == 0, forgotten.stderr
    assert own_kernels() == ["second"]
    assert not first.image.exists()
    assert second.image.is_file()
    unknown = tauto("lab", "forget", "first", "--yes", store=tmp_path)
    assert (unknown.returncode, "first is not here" in unknown.stderr) == (2, True)
    assert tauto("lab", "forget", "all", "--yes", store=tmp_path).returncode == 0
    assert [path.name for path in cache.iterdir()] == ["lock"]


def test_with_the_last_kernel_of_a_version_go_its_headers_and_what_has_two_names_counts_once(
    tmp_path: Path, cache: Path
) -> None:
    for name, package in (("first", "linux-image-1_6.1-1"), ("second", "linux-image-2_6.1-1")):
        remember_kernel(replace(adopted(tmp_path / name, name), package=package))
    packed = cache / "packages" / "linux-headers-1_6.1-1_amd64" / "file"
    write_whole(packed, bytes(1000))
    headers = cache / "headers" / "linux-headers-1_6.1-1"
    headers.mkdir(parents=True)
    os.link(packed, headers / "file")

    assert not {headers, packed.parent} & set(dict(folders_of(["first"])))
    assert {headers: 1000, packed.parent: 0}.items() <= dict(folders_of(["first", "second"])).items()
    assert sum(size for _, size in folders_of(["all"])) == sum(
        {one.stat().st_ino: one.stat().st_size for one in cache.rglob("*") if one.is_file()}.values()
    )


def test_a_file_of_a_kernel_that_can_not_be_copied_is_named(tmp_path: Path) -> None:
    (tmp_path / "kernel").write_bytes(bzimage(vmlinux(), "xz"))
    modules = write_modules(tmp_path)
    os.mkfifo(modules / "pipe")
    with pytest.raises(StoreError, match=r"/pipe can't be copied .*is a named pipe"):
        adopt_kernel("mine", tmp_path / "kernel", modules, tell_nobody)
    assert not own_kernels()


@pytest.mark.parametrize("name", ["all", "qemu", "debian-mine"])
def test_a_kernel_is_not_called_what_means_something_else(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"--name {name}"):
        adopted(tmp_path / "build", name)
    assert not own_kernels()


@pytest.mark.slow
def test_what_is_to_be_forgotten_is_named_once_and_asked_for(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        adopted(tmp_path / name, name)
    shown, code = answering_no(tmp_path, "lab", "forget", "a", "b", "c", "a")
    assert code == 1
    assert b"Remove a, b and c (0 MB)?" in shown
    assert own_kernels() == ["a", "b", "c"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("probe", "cyclic", "--on", "lab:debian-rt"),
        ("probe", "kernel", "--on", "lab:debian-rt,smp=2"),
        ("lab", "matrix", "--kernels", "debian:rt,debian:stock"),
        ("lab", "diff", "debian:rt", "debian:stock"),
    ],
)
def test_where_nobody_can_be_asked_nothing_is_fetched_and_what_is_missing_is_told(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAUTO_KERNELS", str(tmp_path / "empty"))
    refused = tauto(*words, store=tmp_path / "store")
    assert refused.returncode == 2
    assert "the kernel debian:rt was not fetched" in refused.stderr
    assert "tauto lab fetch debian:rt" in refused.stderr
    assert not (tmp_path / "empty" / "names").exists()


@pytest.mark.slow
def test_a_person_at_a_terminal_is_asked_and_may_say_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAUTO_KERNELS", str(tmp_path / "empty"))
    shown, code = answering_no(tmp_path, "probe", "cyclic", "--on", "lab:debian-rt")
    assert code == 1, shown
    assert shown.count(b"Fetch?") == 1
    assert not (tmp_path / "empty" / "names").exists()
