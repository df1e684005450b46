"""Records headers and events of every experiment that measures here, from the real probe, for `any_runs.py`.

usage: python tests/data/record_headers.py path/to/tauto-probe > tests/data/headers.json

It needs `tests/support` in PYTHONPATH, real-time priority, two CPUs, a C compiler, and the programs that are
installed beside the probe. Of this machine it prints no more than what its clock is like.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from step_models import MODELS, built
from tautochrone.base import stream
from watch_programs import PROGRAM, program_of

_SYSTEM = {"name": "Linux", "release": "6.1.0", "version": "#1 SMP", "machine": "x86_64"}
_LEFT_OUT = ("started", "progress", "dropped", "stop")
_STAGES = "--count 2 --warmup 1 --cpus 0,1"
_CALLS = "--transport unix --calls 2"
_RATES = "--rate-high 200 --rate-low 100"
_STEP = "step --code ./step_models.so:mirrors --count 2 --warmup 1"
_LOOP = "watch --program './watch_program plain 20 1000' --warmup 1"
_COMMANDS = {
    "cyclic": "cyclic --count 2 --cpus 0,1",
    "clock": "clock --count 2 --clocks monotonic,realtime",
    "switch": f"switch {_STAGES}",
    "rhealstone": f"rhealstone {_STAGES}",
    "inversion": "inversion --count 1 --warmup 0 --cpus 0,1 --place same",
    "period": "period --count 2 --periods 1ms,2ms --warmup 1",
    "response": f"response --mechanisms semaphore,udp --repetitions 2 --period 1ms {_STAGES}",
    "interrupt": "interrupt --count 2 --rate 1000",
    "taskset": "taskset --tasks tau1:4ms:-:1200us:60:0,tau2:8ms:-:2ms:50:0 --duration 40ms",
    "tire": "tire --nodes 40 --threads 2 --count 5 --step 1ms --cpus 0,1",
    "tire, real-fast": "tire --nodes 40 --threads 2 --pace real-fast --count 100 --cpus 0,1",
    "middleware-throughput": (
        "middleware-throughput --transport unix --types void,octets --lengths 4 --count 2"
    ),
    "middleware-latency": f"middleware-latency {_CALLS} {_RATES} --clients 2",
    "middleware-latency, one-way": f"middleware-latency {_CALLS} {_RATES} --clients 1 --one-way",
    "middleware-footprint": f"middleware-footprint {_CALLS} --servants 2",
    "step": f"{_STEP} --cpus 0",
    "step, exchange": f"{_STEP} --exchange udp:127.0.0.1:47115 --peer echo",
    "step, explain": f"{_STEP} --explain",
    "step, real-fast": f"{_STEP} --pace real-fast",
    "watch": f"{_LOOP} --period 1ms",
    "watch, no period": _LOOP,
}


def main() -> None:
    """Print an object with header and events by experiment, one a line."""
    built(MODELS, Path())
    program_of(PROGRAM, Path())
    found = {name: _recorded([sys.argv[1], *shlex.split(command)]) for name, command in _COMMANDS.items()}
    lines = (f"{json.dumps(name)}: {json.dumps(one, separators=(',', ':'))}" for name, one in found.items())
    print("{\n" + ",\n".join(lines) + "\n}")


def _recorded(command: list[str]) -> dict[str, Any]:
    done = subprocess.run([*command, "--no-memory-lock", "--out", "-"], stdout=subprocess.PIPE, check=True)
    path = Path("recorded.tauto")
    path.write_bytes(done.stdout)
    frames = list(stream.read_file(path, stream.FrameReader()))
    path.unlink()
    header = stream.json_payload(next(one for one in frames if one.type == stream.HEADER))
    events = [stream.json_payload(one) for one in frames if one.type == stream.EVENT]
    return {
        "header": {**header, "system": _SYSTEM},
        "events": [one for one in events if one["event"] not in _LEFT_OUT],
    }


if __name__ == "__main__":
    main()
