"""Writes simso.json anew: task sets drawn at random, and every response time as SimSo simulates them.

SimSo 0.8.5 (Chéramy, Hladik and Déplanche 2014) is not among the test dependencies: it has no wheel, and it
imports the module `imp`, which Python 3.12 dropped. So what it answered is kept beside the tests:

    python3.11 -m venv simso && simso/bin/pip install simso==0.8.5
    simso/bin/python tests/data/record_simso.py > tests/data/simso.json
"""

import json
import random
import sys
from math import lcm
from typing import Any

from simso.configuration import Configuration
from simso.core import Model

SETS = 60
PERIODS = (4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30, 40, 48, 60)
LONGEST = 240
SCHEDULERS = {"fixed": "simso.schedulers.RM_mono", "edf": "simso.schedulers.EDF_mono"}


def draw(source: random.Random, policy: str) -> list[dict[str, int]]:
    """Tasks in milliseconds, some sets asking for more than there is.

    Periods differ, and deadlines do: which of two jobs goes first that are released and due together is not
    settled by EDF.
    """
    while True:
        periods = source.sample(PERIODS, source.randint(2, 6))
        if lcm(*periods) > LONGEST:
            continue
        share = source.uniform(0.5, 1.05)
        tasks = []
        for period in periods:
            execution = min(period, max(1, round(period * share * source.uniform(0.5, 1.5) / len(periods))))
            shortest = max(execution, period // 2)
            deadline = source.randint(shortest, period) if policy == "edf" else period
            tasks.append({"period": period, "deadline": deadline, "execution": execution})
        if len({task["deadline"] for task in tasks}) == len(tasks):
            return tasks


def simulate(policy: str, tasks: list[dict[str, int]]) -> list[list[int | None]]:
    """The response time of every job of every task, in one hyperperiod; None: not completed."""
    configuration = Configuration()
    end = lcm(*(task["period"] for task in tasks))
    configuration.duration = end * configuration.cycles_per_ms
    for number, task in enumerate(tasks, 1):
        configuration.add_task(
            name=f"task{number}",
            identifier=number,
            period=task["period"],
            deadline=task["deadline"],
            wcet=task["execution"],
            activation_date=0,
            abort_on_miss=False,
        )
    configuration.add_processor(name="CPU", identifier=1)
    configuration.scheduler_info.clas = SCHEDULERS[policy]
    configuration.check_all()
    model = Model(configuration)
    model.run_model()
    per_ms = configuration.cycles_per_ms
    found = []
    for task, (_, results) in zip(tasks, sorted(model.results.tasks.items(), key=by_number), strict=True):
        jobs = results.jobs[: end // task["period"]]
        found.append(
            [None if job.response_time is None else round(job.response_time / per_ms) for job in jobs]
        )
    return found


def by_number(item: tuple[Any, Any]) -> int:
    """The order in which the tasks were added."""
    return int(item[0].identifier)


def main() -> None:
    """Print the sets and what SimSo says of them."""
    source = random.Random(2020)
    sets = []
    for at in range(SETS):
        policy = ("fixed", "edf")[at % 2]
        tasks = draw(source, policy)
        sets.append({"policy": policy, "tasks": tasks, "responses": simulate(policy, tasks)})
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in sets)
    sys.stdout.write(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
