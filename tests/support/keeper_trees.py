"""A copied tree for the keeper of settings, and steps that change it."""

from pathlib import Path

from agents import Keep, keep

JOURNAL = "/run/tautochrone/deployment.journal"
Tree = dict[str, bytes | None]
STEPS: list[tuple[str, ...]] = [
    ("affinities",),
    ("write", "/sys/cpu1/online", "0"),
    ("write", "/sys/thp/enabled", "never"),
    ("mkdir", "/cgroup/house"),
    ("write", "/cgroup/house/cpuset.cpus", "0"),
    ("move", "/cgroup/tasks", "/cgroup/house/tasks"),
    ("write", "/cgroup/subtree_control", "+cpuset", "-cpuset"),
    ("mkdir", "/cgroup/house/inner"),
    ("move", "/cgroup/house/tasks", "/cgroup/house/inner/tasks"),
    ("hold", "/dev/latency", "\0\0\0\x14"),
    ("write", "/sys/empty", "words with spaces, and a %"),
    ("write", "/sys/cpu1/online", "2"),
]


def make_tree(root: Path) -> Path:
    """A tree with the shapes that settings have."""
    for name, content in {
        "sys/cpu1/online": "1\n",
        "sys/thp/enabled": "always [madvise] never\n",
        "sys/empty": "",
        "cgroup/tasks": "1\n22\n333\n",
        "cgroup/subtree_control": "\n",
        "dev/latency": "\0\x94\x35\x77",
        "run/other": "x",
    }.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode("latin-1"))
    return root


def snapshot(root: Path) -> Tree:
    """All of the tree but the journal's folder."""
    return {
        str(path.relative_to(root)): None if path.is_dir() else path.read_bytes()
        for path in sorted(root.rglob("*"))
        if not path.is_relative_to(root / "run/tautochrone")
    }


def journal_of(root: Path) -> Path:
    return root / JOURNAL.lstrip("/")


def kill(keeper: Keep) -> None:
    keeper.process.kill()
    keeper.process.wait()


def restore(root: Path) -> bytes:
    with keep("--root", str(root)) as keeper:
        return keeper.ask("restore")
