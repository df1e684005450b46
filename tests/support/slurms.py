"""A Slurm of the tests' own: one controller, several nodes on loopback, munge with a key made for it."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from real import skip_or_fail, wait_until
from ssh_servers import free_port

NEEDED = ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "scancel", "sinfo")


@contextmanager
def slurm(folder: Path, nodes: int = 3) -> Iterator[dict[str, str]]:
    """Partitions rt (all nodes) and one (the first), a licence "board"; yields the environment for it.

    Nothing is kept by an accounting database: there is none.
    """
    path = f"{os.environ['PATH']}:/usr/sbin"
    if missing := [one for one in NEEDED if shutil.which(one, path=path) is None]:
        skip_or_fail(f"needs {', '.join(missing)}")
    if os.geteuid() != 0:
        skip_or_fail("slurmctld and slurmd start jobs of users, for which they want root")
    folder.chmod(0o755)
    for one in ("state", "spool", "munge"):
        (folder / one).mkdir(mode=0o700)
    (folder / "munge").chmod(0o711)
    (key := folder / "munge" / "key").write_bytes(os.urandom(128))
    key.chmod(0o400)
    conf = folder / "slurm.conf"
    conf.write_text(_configuration(folder, nodes))
    around = os.environ | {"SLURM_CONF": str(conf), "PATH": path}
    with ExitStack() as stack:
        munge = folder / "munge"
        _start(
            stack, folder, around,
            ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}/socket",
             f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed"],
        )  # fmt: skip
        wait_until((munge / "socket").exists, "munged listens")
        _start(stack, folder, around, ["slurmctld", "-D", "-i"])
        for number in range(1, nodes + 1):
            _start(stack, folder, around, ["slurmd", "-D", "-N", f"n{number}"])
        wait_until(lambda: _idle(around) == nodes, f"{nodes} nodes are idle")
        yield around


def _configuration(folder: Path, nodes: int) -> str:
    host = socket.gethostname()
    ports = "".join(
        f"NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs=1 State=UNKNOWN\n"
        for number in range(1, nodes + 1)
    )
    return (
        f"ClusterName=tests\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={free_port()}\n"
        f"SlurmUser=root\nAuthType=auth/munge\nAuthInfo=socket={folder}/munge/socket\nCryptoType=crypto/munge\n"
        f"StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool/%n\n"
        f"SlurmctldPidFile={folder}/ctld.pid\nSlurmdPidFile={folder}/%n.pid\n"
        # However late the daemons of a busy machine answer: no node is lost, each job has started.
        "MessageTimeout=60\nTCPTimeout=30\nBatchStartTimeout=120\nSlurmdTimeout=0\n"
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nReturnToService=2\n"
        "SchedulerType=sched/backfill\nSelectType=select/cons_tres\nMpiDefault=none\nKillWait=60\n"
        "AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\nLicenses=board:1\n"
        "SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1\nMaxArraySize=1001\n"
        f"{ports}PartitionName=rt Nodes=n[1-{nodes}] Default=YES State=UP MaxTime=INFINITE\n"
        "PartitionName=one Nodes=n1 State=UP MaxTime=INFINITE\n"
    )


def _start(stack: ExitStack, folder: Path, around: dict[str, str], command: Sequence[str]) -> None:
    log = stack.enter_context((folder / f"log-{command[0]}-{command[-1].rpartition('/')[2]}").open("wb"))
    process = subprocess.Popen(command, env=around, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    stack.callback(_end, process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _idle(around: dict[str, str]) -> int:
    said = subprocess.run(
        ["sinfo", "-h", "-N", "-p", "rt", "-o", "%t"], env=around, capture_output=True, text=True, check=False
    )
    return said.stdout.split().count("idle")
