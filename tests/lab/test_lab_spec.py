"""What stands after `--on lab:`."""

import pytest

from tautochrone.base.errors import UsageError
from tautochrone.target.address import LabAddress, read_lab_address


@pytest.mark.parametrize(
    ("text", "meant", "shown"),
    [
        ("debian-rt", LabAddress("debian:rt"), "debian:rt"),
        ("debian:6.12-rt/amd64", LabAddress("debian:6.12-rt"), "debian:6.12-rt"),
        ("debian-rt/aarch64,smp=4", LabAddress("debian:rt/arm64", cpus=4), "debian:rt/arm64,smp=4"),
        ("mine,smp=4,threads=2", LabAddress("mine", cpus=4, threads=2), "mine,smp=4,threads=2"),
        ("mine,shift=0,memory=512", LabAddress("mine", shift=0, memory_mib=512), "mine,shift=0,memory=512"),
        ("mine,memory=1024,smp=1", LabAddress("mine"), "mine"),
        ("mine,append=preempt=none", LabAddress("mine", append="preempt=none"), "mine,preempt=none"),
        (
            "mine,append=a preempt=full",
            LabAddress("mine", append="a preempt=full"),
            "mine,append=a preempt=full",
        ),
        (
            "debian-stock,preempt=full,append=isolcpus=1-3,5  nohz_full=1",
            LabAddress("debian:stock", append="preempt=full isolcpus=1-3,5 nohz_full=1"),
            "debian:stock,preempt=full,append=isolcpus=1-3,5 nohz_full=1",
        ),
    ],
)
def test_addresses(text: str, meant: LabAddress, shown: str) -> None:
    assert read_lab_address(text) == meant
    assert str(meant) == shown
    assert read_lab_address(shown) == meant
    assert read_lab_address(meant.where.removeprefix("lab:")) == meant


def test_a_debian_kernel_has_its_hyphen_after_on() -> None:
    assert LabAddress("debian:stock", append="preempt=none").where == "lab:debian-stock,preempt=none"
    assert LabAddress("mine", cpus=2, append="a=b:c").where == "lab:mine,smp=2,append=a=b:c"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("debian:stok", "Did you mean 'debian:stock'?"),
        ("debain:rt", "Did you mean 'debian:rt'?"),
        ("debian:rt/riscv64", "/arm64"),
        ("debian:rt,sm=4", "Did you mean 'smp'?"),
        ("debian:rt,preempt=voluntry", "Did you mean 'voluntary'?"),
        ("debian:rt,smp", "smp=VALUE"),
        ("debian:rt,smp=0", "smp=1"),
        ("debian:rt,smp=4,smp=2", "once"),
        ("debian:rt,smp=3,threads=2", "multiple of threads"),
        ("debian:rt,memory=1G", "memory="),
        ("debian:rt,append=", "append=PARAMETERS"),
        ("debian:rt,append=a\nb", "one line"),
        ("debian:rt,preempt=none,append=preempt=full", "append="),
        *((text, "") for text in ("", ",smp=2", "../x", "a b", "debian:")),
    ],
)
def test_what_is_written_wrong_is_refused_with_what_was_meant(text: str, advice: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_lab_address(text)
    assert advice in refused.value.advice
