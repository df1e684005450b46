"""`make bench`: every benchmark, one after the other; prints ratios, decides nothing.

Four that take many minutes are run by themselves: judgement/, tails.py, false_alarms.py and boards.py.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import blame
import cyclic
import drain
import interrupt
import lab_times
import loads
import middleware
import response
import step
import tire
import tire_sender
import watch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each single run")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved repetitions")
    parser.add_argument("--limit-seconds", type=float, default=10.0, help="of the trial that decides")
    parser.add_argument("--samples", type=int, default=100_000_000, help="for sealing and summarising")
    options = parser.parse_args()

    cpu, home = max(os.sched_getaffinity(0)), min(os.sched_getaffinity(0))
    print(
        f"Linux {os.uname().release}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.2f}, measuring on "
        f"CPU {cpu}"
    )
    places = [cyclic.Place(cpu, cpu), cyclic.Place(cpu, home)]
    for place in dict.fromkeys(places):
        cyclic.cpu_time(place, options.seconds, options.rounds)
        cyclic.served(place, options.seconds, min(3, options.rounds))
    cyclic.served_awake(places[-1], options.seconds, min(3, options.rounds))
    cyclic.spin_at_10_us(places[-1], options.seconds, min(3, options.rounds))
    cyclic.waits(places[-1], options.seconds, min(3, options.rounds))
    cyclic.missing(places[-1], options.seconds)
    drain.disturbance(cpu, home, options.seconds, options.rounds)
    blame.recording_cost(cpu, home, options.seconds, options.rounds)
    response.latency(cpu, home, options.seconds, options.rounds)
    interrupt.handler_cost(cpu, options.seconds, options.rounds)
    step.harness_cost(cpu, home, options.seconds, options.rounds)
    watch.cost_of_marks()
    watch.cost_outside()
    middleware.round_trips(cpu, home, min(2.0, options.seconds), min(3, options.rounds))
    loads.disturbance(len(os.sched_getaffinity(0)), options.seconds, min(3, options.rounds))
    loads.guarded(cpu, options.seconds, min(3, options.rounds))
    tire.speed(cpu, home, min(1.0, options.seconds), options.rounds)
    tire.memory(cpu)
    tire.limit(cpu, options.limit_seconds)
    for nodes in (64, 400_000):
        tire_sender.sender_cost(cpu, options.seconds, options.rounds, nodes)
    lab_times.command_to_result(("debian-stock", "debian-rt"), min(3, options.rounds))
    cyclic.sizes()
    sys.stdout.flush()
    here = Path(__file__).parent
    subprocess.run([sys.executable, str(here / "seal.py"), "--samples", str(options.samples)], check=True)
    subprocess.run([sys.executable, str(here / "catalogue.py")], check=True)
    subprocess.run(
        [sys.executable, str(here / "verb_times.py"), "--samples", str(options.samples)], check=True
    )


if __name__ == "__main__":
    main()
