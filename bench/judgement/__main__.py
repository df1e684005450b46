"""How often verdicts are falsely sure, and how often what is true is shown, on data whose truth is known.

`python bench/judgement [--rounds N] [--only WORD]`. Each line: how often the answer was sure, with the
interval of Clopper and Pearson, how often it was refused, and what is stated. A line that goes beyond what is
stated is marked.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from judgement.most import most_shown
from judgement.questions import Question, questions
from tautochrone.statistics.quantiles import between


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="questions whose verb or name has this in it")
    options = parser.parse_args()
    verb = ""
    for question in questions():
        if options.only not in f"{question.verb}: {question.name}":
            continue
        if question.verb != verb:
            verb = question.verb
            print(f"\n{verb}")
        print(f"  {tried(question, options.rounds, options.seed)}", flush=True)
    if not options.only:
        print(most_shown())


def tried(question: Question, rounds: int, seed: int) -> str:
    """A line: what came of so many rounds."""
    random = np.random.default_rng([seed, sum(map(ord, question.name))])
    came = [question.ask(random) for _ in range(rounds)]
    sure, refused = came.count("sure"), came.count("refused")
    low, high = between(rounds, sure, 0.95)
    stated = f"at most {question.bound:.0%}" if question.false else ""
    beyond = "  <- more than stated" if question.false and low > question.bound else ""
    kind = "falsely sure" if question.false else "shown"
    return (
        f"{question.name:75} {kind:12} {sure / rounds:6.1%} ({low:.1%} to {high:.1%})"
        f"{f', refused {refused / rounds:.0%}' if refused else ''}{f', {stated}' if stated else ''}{beyond}"
    )


if __name__ == "__main__":
    main()
