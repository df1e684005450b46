"""Records the golden corpus: stored runs, and what every verb answers about them.

    python tests/golden/record.py --measure [STORE...]  measure what the stores lack, in the virtual lab
    python tests/golden/record.py --make [STORE...]       make those runs anew that are not measured
    python tests/golden/record.py --accept [CASE...]    write answers anew, after a difference that is wanted

The runs are small. Guests of the virtual lab measured them, so they name no machine, person or folder. They
were stored by an earlier version, and are to stay as that wrote them: `--measure` is for a store that is new,
or for one that was removed because its contents must change; the answers about it change with it.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
RUNS = HERE / "runs"

_ONE, _TWO = "--on lab:debian-rt", "--on lab:debian-rt,smp=2"
MEASURED = {
    "experiments": (
        f"probe cyclic {_ONE} --period 1ms --count 400",
        f"probe cyclic {_TWO} --period 500us --count 700 --load exit --record histogram",
        f"probe cyclic {_TWO} --period 1ms --count 300 --load exit --overrun replay --stagger 100us",
        f"probe cyclic {_TWO} --period 1ms --count 200 --policy other --title 'ordinary threads'",
        f"probe clock {_ONE} --count 200",
        f"probe switch {_TWO} --count 100",
        f"probe rhealstone {_TWO} --count 60",
        f"probe inversion {_TWO} --count 3",
        f"probe period {_ONE} --count 40",
        f"probe response {_TWO} --count 5 --repetitions 4 --period 1ms",
        f"probe interrupt {_ONE} --count 300 --rate 1kHz",
        f"probe interrupt {_ONE} --count 100 --without-handler --load exit",
        f"probe timerlat {_TWO} --cpus all --count 150 --rate 1kHz",
        f"probe kernel {_TWO} --measure interrupt --count 150",
        f"probe kernel {_TWO} --measure period --count 20 --periods 10ms,30ms",
        f"probe kernel {_TWO} --measure response --count 5 --repetitions 3 --periods 10ms",
        f"probe taskset plans/three.tasks.toml {_ONE} --duration 400ms --warmup 20ms",
        f"probe tire {_TWO} --nodes 48 --threads 2 --count 60",
        f"probe tire {_TWO} --nodes 48 --threads 2 --count 60 --pace real-fast --solver semaphore",
    ),
    "plan": ("run plans/deployments.plan.toml",),
    "middleware": (
        f"middleware throughput {_TWO} --transport tcp,unix --place same --types void,longs --lengths 1,64"
        " --count 100 --seed 1",
        f"middleware latency {_TWO} --transport tcp --place same --clients 0,2 --calls 20 --seed 1",
        f"middleware footprint {_TWO} --transport tcp --servants 1,2 --seed 1",
    ),
    "laurich2004": (
        "reproduce laurich2004 --plan plans/laurich2004.tiny.plan.toml --on lab:debian-rt --jobs 2",
    ),
    "tire-grid": (
        f"tire fast {_TWO} --nodes 48,96 --threads 1,2 --policy fifo --duration 200ms --seed 1",
        f"tire map {_TWO} --soft --nodes 48,400 --threads 1,2 --duration 200ms --seed 1",
    ),
    "lab": (
        "lab matrix --kernels debian:rt,debian:cloud --preempt none,full --load idle,exit --duration 200ms"
        " --period 1ms --jobs 2",
    ),
    "lab-diff": ("lab diff debian:cloud,preempt=none debian:rt --duration 200ms --jobs 2",),
    "tire-limit": (f"tire limit {_TWO} --rate 1kHz --threads 1 --quick --duration 300ms --resolution 40%",),
    "tire-model": (
        f"tire model {_ONE} --quick --nodes 48..480:5 --threads 1,2 --duration 100ms --repetitions 1"
        " --seed 1",
    ),
    "koh2013": ("reproduce koh2013 --plan plans/koh2013.tiny.plan.toml --on lab:debian-rt --jobs 2",),
}
"""By store, what measured it, typed in this folder."""

_TRIES = 4
"""A guest on a busy machine may not come up."""

_DONE = (0, 6, 7)


def measure(name: str) -> None:
    """Measure what the store lacks, and leave nothing in it but runs."""
    store = RUNS / name
    for command in MEASURED[name]:
        words = ["tauto", *shlex.split(command)]
        if words in _commands(store):
            continue
        for last in range(_TRIES):
            print("measuring:", shlex.join(words), flush=True)
            done = subprocess.run(
                [str(Path(sys.executable).parent / "tauto"), *words[1:]],
                cwd=HERE,
                env=os.environ | {"TAUTO_STORE": str(store)},
                stdout=subprocess.DEVNULL,
                check=False,
            )
            if done.returncode in _DONE:
                break
            if last == _TRIES - 1:
                sys.exit(f"{shlex.join(words)}: exit code {done.returncode}")
    _tidy(store)


def make(names: tuple[str, ...]) -> None:
    """Make the runs that no guest measures: long, damaged, of several nights or deployments."""
    sys.path[:0] = [str(HERE.parent), str(HERE.parent / "support")]
    from golden.made import MADE

    for name in names or MADE:
        shutil.rmtree(RUNS / name, ignore_errors=True)
        MADE[name](RUNS / name)
        _tidy(RUNS / name)


def accept(names: tuple[str, ...]) -> None:
    """Write the answers of these cases anew, and remove those that nobody asks for any more."""
    sys.path[:0] = [str(HERE.parent), str(HERE.parent / "support")]
    from golden.asked import Desk
    from golden.cases import CASES, kept_of, place_of

    with TemporaryDirectory(prefix="tauto-golden-") as folder:
        desk = Desk(Path(folder))
        for case in CASES:
            if not case.name.startswith(names):
                continue
            begin = time.process_time()
            answer = case.answer(desk)
            before = kept_of(case)
            for ending in before.keys() - answer.keys():
                place_of(case, ending).unlink()
            changed = [ending for ending, text in answer.items() if text != before.get(ending)]
            for ending in changed:
                place_of(case, ending).parent.mkdir(parents=True, exist_ok=True)
                place_of(case, ending).write_text(answer[ending], encoding="utf-8")
            took = time.process_time() - begin
            print(f"{took:5.2f} s  {case.name}: {', '.join(changed) or 'as before'}", flush=True)


def _commands(store: Path) -> list[list[str]]:
    return [json.loads(path.read_text())["conditions"].get("command") for path in store.glob("*/run.json")]


def _tidy(store: Path) -> None:
    """Remove reports, and everything else that is no run; and spaces from what is kept in git."""
    for path in store.iterdir():
        manifest = path / "run.json"
        if manifest.exists():
            manifest.write_text(
                json.dumps(json.loads(manifest.read_text()), indent=0, ensure_ascii=False) + "\n"
            )
        elif path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", nargs="*", metavar="STORE", choices=list(MEASURED))
    parser.add_argument("--make", nargs="*", metavar="STORE", help="of those in made.py")
    parser.add_argument("--accept", nargs="*", metavar="CASE", help="by the beginning of its name")
    arguments = parser.parse_args()
    if arguments.accept is not None:
        accept(tuple(arguments.accept) or ("",))
    if arguments.make is not None:
        make(tuple(arguments.make))
    if arguments.measure is not None:
        for name in arguments.measure or MEASURED:
            measure(name)


if __name__ == "__main__":
    main()
