"""What the golden corpus asks, and what is kept of each answer."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from golden import forms
from golden.asked import Desk, notebook
from golden.record import MEASURED
from schemas import valid

Answer = dict[str, str]
"""What is kept, by the ending of its file."""


ANSWERS = Path(__file__).resolve().parent / "answers"


@dataclass(frozen=True)
class Case:
    """One question.

    Attributes:
        name: a folder for the verb, and a name in it.
        words: as typed; `@cyclic#1` is a run. Each line of several is a call of its own.
        store: the folder of runs that it is asked about.
        kept: "json": asked once more with --json; "only-json": asked so alone; "page", "markdown", "junit",
            "folder": written, too; "out:ENDING": the file that -o names has this ending.
        measured: runs that a verb that measures finds measured.
        machine: the machine under test, of which only files are there; what is asked is in the store.
        quick: whether it is asked in `make check`.
    """

    name: str
    words: str
    store: str = "experiments"
    kept: str = ""
    measured: tuple[str, ...] = ()
    machine: str = ""
    quick: bool = False
    make: Callable[[Desk], Answer] | None = field(default=None, compare=False)

    def answer(self, desk: Desk) -> Answer:
        """Ask, and return what is kept of the answer."""
        if self.make is not None:
            return self.make(desk)
        if self.machine:
            with desk.at(self.machine, self.store):
                return self._asked(desk)
        if not self.measured:
            return self._asked(desk)
        with desk.measured(self.store, self.measured):
            return self._asked(desk)

    def _asked(self, desk: Desk) -> Answer:
        kept = self.kept.split()
        words = _words(self.words)
        where = {
            "page": ("-o", "out/page.html"),
            "markdown": ("--markdown", "out/summary.md"),
            "junit": ("--junit", "out/junit.xml"),
            "folder": ("-o", "out"),
        }
        more = [word for one in kept if one in where for word in where[one]]
        more += [w for one in kept if one.startswith("out:") for w in ("-o", f"out/file.{one[4:]}")]
        answer = {}
        if "only-json" not in kept:
            answer = {"txt": _told(desk, self.store, [*words, *more])} | _written(desk)
        if "json" in kept or "only-json" in kept:
            ended = desk.ask(self.store, *words, "--json", columns=None)
            if ended.out:  # otherwise it was refused, and the text has the reason
                valid(ended.out)
                answer["json"] = forms.neutral(forms.as_json(ended.out), str(desk.folder))
        return answer


def place_of(case: Case, ending: str) -> Path:
    """Return where an answer is kept."""
    return ANSWERS / f"{case.name}.{ending}"


def kept_of(case: Case) -> Answer:
    """Return the answer that is kept, nothing if there is none."""
    folder, _, name = case.name.rpartition("/")
    found = (ANSWERS / folder).glob(f"{name}.*")
    return {path.name.removeprefix(f"{name}."): path.read_text(encoding="utf-8") for path in sorted(found)}


def _words(line: str) -> list[str]:
    return [word.strip("'") for word in re.findall(r"'[^']*'|\S+", line)]


def _typed(store: str, number: int) -> str:
    """Return what was typed to measure a store, so that everything asked for is in it."""
    return MEASURED[store][number]


def _told(desk: Desk, store: str, words: list[str]) -> str:
    ended = desk.ask(store, *words)
    assert not ended.fault, ended.fault
    text = f"$ tauto {' '.join(words)}\n{ended.out}"
    text += f"[to the standard error]\n{ended.err}" if ended.err.strip() else ""
    return forms.neutral(text + (f"[exit code {ended.code}]\n" if ended.code else ""), str(desk.folder))


def _written(desk: Desk) -> Answer:
    """What a call wrote into files: each kind in the form that suits it."""
    out, folder = desk.folder / "out", str(desk.folder)
    answer: Answer = {}
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        for ending, text in _form_of(path):
            alone = path.parent == out
            told = forms.neutral(text, folder)
            answer[ending] = answer.get(ending, "") + (
                told if alone else f"== {path.relative_to(out)}\n{told}"
            )
    return answer


def _form_of(path: Path) -> Iterator[tuple[str, str]]:
    ending = path.suffix[1:]
    if ending == "parquet":
        file = pq.ParquetFile(path)
        yield "parquet.txt", f"{file.schema_arrow.to_string()}\n{file.metadata.num_rows} rows\n"
        return
    if ending in ("pdf", "png"):
        yield "other.txt", f"{path.name}\n"
        return
    text = path.read_text(encoding="utf-8")
    if ending == "html":
        yield "page.txt", forms.as_page(text)
        if charts := forms.charts_of(text):
            yield "charts.txt", charts
    elif ending == "svg":
        yield "svg.txt", forms.as_drawing(text)
    else:
        as_is: Mapping[str, Callable[[str], str]] = {
            "json": forms.as_json, "csv": forms.as_csv, "xml": forms.as_xml,
        }  # fmt: skip
        yield ending, as_is.get(ending, str)(text)


def _help(*verbs: str) -> Callable[[Desk], Answer]:
    """The help of verbs, and of all below them."""

    def make(desk: Desk) -> Answer:
        return {"txt": "\n".join(_help_of(desk, list(verb.split())) for verb in verbs)}

    return make


def _help_of(desk: Desk, verb: list[str]) -> str:
    text = _told(desk, "experiments", [*verb, "--help"])
    _, _, verbs = text.partition("\nVerbs:\n")
    below = re.findall(r"^  (\S+)  ", verbs, re.MULTILINE) if verb else []
    return "\n".join([text, *(_help_of(desk, [*verb, name]) for name in below)])


def _theme(desk: Desk) -> Answer:
    desk.ask("single", "report", "@cyclic", "-o", "out/page.html")
    return {"json": forms.theme_of((desk.folder / "out" / "page.html").read_text(encoding="utf-8"))}


def _list(desk: Desk, store: str) -> Answer:
    return {"txt": _told(desk, store, ["list"])}


def _notebook(store: str, show: Callable[[Any, str], Any]) -> Callable[[Desk], Answer]:
    def make(desk: Desk) -> Answer:
        return {"txt": forms.neutral(forms.as_page(notebook(desk, store, show)), str(desk.folder))}

    return make


def _of_experiments() -> Iterator[Case]:
    """What is asked about each experiment."""
    quick = ("cyclic", "inversion", "taskset", "rhealstone")
    for name, run in {
        "cyclic": "@cyclic", "cyclic-histogram": "@cyclic#1", "cyclic-replay": "@cyclic#2",
        "cyclic-other": "@cyclic#3", "clock": "@clock", "switch": "@switch", "rhealstone": "@rhealstone",
        "inversion": "@inversion", "period": "@period", "response": "@response", "interrupt": "@interrupt",
        "interrupt-without-handler": "@interrupt#1", "timerlat": "@timerlat",
        "kernel-interrupt": "@kernel", "kernel-period": "@kernel#1", "kernel-response": "@kernel#2",
        "taskset": "@taskset", "tire": "@tire", "tire-fast": "@tire#1",
    }.items():  # fmt: skip
        kept = "" if name == "response" else "json"  # it is long, and kernel-response is like it
        yield Case(f"show/{name}", f"show {run} --intervals", kept=kept, quick=name in quick)
        yield Case(f"report/{name}", f"report {run}", kept="page", quick=name in quick[:2])


_ALL = (
    Case("list/experiments", "list", kept="json"),
    Case("list/single", "list", "single", "json", quick=True),
    Case("list/few", "list --limit 3", "single"),
    # One run.
    Case("show/cpu-load", "show @cyclic", "single", "json"),
    Case("show/missed-and-dropped", "show @cyclic#1", "single", "json", quick=True),
    Case("show/bursts-and-a-step", "show @cyclic#2 --intervals", "single", "json"),
    Case("show/cut-off", "show @cyclic#3", "single", "json"),
    Case("show/histogram", "show @cyclic#4 --intervals", "single", "json"),
    Case("show/interrupted", "show @cyclic#5", "single", "json"),
    Case("show/overrun", "show @cyclic#6", "single", "json"),
    Case("show/24-cpus", "show @cyclic#7", "single"),
    Case("show/no-schedule", "show @cyclic#8", "single"),
    Case("show/nothing-measured", "show @cyclic#9", "single", "json"),
    Case("show/warning", "show latest", "single"),
    Case("show/middleware-throughput", "show @middleware-throughput", "middleware", "json"),
    Case("show/middleware-latency", "show @middleware-latency#1", "middleware", "json"),
    Case("show/middleware-footprint", "show @middleware-footprint", "middleware", "json"),
    Case("show/no-such-run", "show 1999", "single", quick=True),
    # What made cycles late.
    Case("blame/four-causes", "blame @cyclic", "late", "json page", quick=True),
    Case("blame/no-recorder", "blame @cyclic#1", "late", "json"),
    Case("blame/lost-and-not-kept", "blame @cyclic#2 --confidence 99%", "late", "json"),
    Case("blame/none-late", "blame @cyclic#3", "late", "json"),
    Case("blame/plain", "blame @cyclic", "single"),
    Case("bound/four-causes", "bound @cyclic", "late", "json page"),
    Case("bound/given", "bound @cyclic --poid 80us --paie 200ns --psd 5us --st 4us", "late", "json"),
    Case("bound/no-recorder", "bound @cyclic#1", "late"),
    Case("bound/lost-and-not-kept", "bound @cyclic#2", "late", "json"),
    Case("bound/none-late", "bound @cyclic#3", "late"),
    Case("bound/plain", "bound @cyclic", "single"),
    Case("show/late", "show @cyclic", "late", "json"),
    # Tails, and how many samples it takes.
    Case("tail/fitted", "tail @cyclic", "long", "json", quick=True),
    Case("tail/limits", "tail @cyclic --limit 8us --limit 1ms --confidence 99%", "long", "json"),
    Case("tail/few", "tail @cyclic", "experiments", "json"),
    Case("tail/histogram", "tail @cyclic#4", "single", "json"),
    Case("tail/exponential", "tail @cyclic", "single", "json"),
    Case("tail/bursts-and-a-step", "tail @cyclic#2", "single", "json"),
    Case("tail/drift", "tail @cyclic#3", "single", "json"),
    Case("tail/response", "tail @response", "experiments"),
    Case("plan-samples/quantile", "plan-samples --quantile 99.999", kept="json", quick=True),
    Case(
        "plan-samples/misses", "plan-samples --misses '1 per hour' --rate 1kHz --confidence 99%", kept="json"
    ),
    Case("plan-samples/like", "plan-samples --quantile 99.9 --like @cyclic", "long", "json"),
    # Pages of several runs.
    Case("report/long", "report @cyclic", "long", "page"),
    Case("report/missed-and-dropped", "report @cyclic#1", "single", "page"),
    Case("report/bursts-and-a-step", "report @cyclic#2", "single", "page"),
    Case("report/histogram", "report @cyclic#4", "single", "page"),
    Case("report/nothing-measured", "report @cyclic#9", "single", "page"),
    Case("report/idle-and-loaded", "report @cyclic#10 @cyclic#11", "single", "page"),
    Case("report/mixed", "report @cyclic @clock @timerlat @tire", "experiments", "page"),
    Case(
        "report/middleware-throughput",
        "report @middleware-throughput @middleware-throughput#1",
        "middleware",
        "page",
    ),
    Case(
        "report/middleware-latency", "report @middleware-latency @middleware-latency#1", "middleware", "page"
    ),
    Case("report/middleware-footprint", "report @middleware-footprint", "middleware", "page"),
    Case("report/theme", "", make=_theme),
    # Figures.
    Case("figure/list-cyclic", "figure @cyclic --kind list", "long"),
    Case("figure/list-taskset", "figure @taskset --kind list"),
    Case("figure/list-tire", "figure @tire --kind list"),
    Case("figure/list-response", "figure @response --kind list"),
    Case("figure/list-plan", "figure plan-latest --kind list", "plan"),
    Case("figure/histogram", "figure @cyclic", "long", "out:svg", quick=True),
    Case("figure/cumulative", "figure @cyclic#10 @cyclic#11 --kind cumulative", "single", "out:svg"),
    Case("figure/time", "figure @cyclic#2 --kind time", "single", "out:svg"),
    Case("figure/cpus", "figure @cyclic#2 --kind cpus", "single", "out:svg"),
    Case("figure/tail", "figure @cyclic --kind tail", "long", "out:svg"),
    Case("figure/tail-fit", "figure @cyclic --kind tail-fit", "long", "out:svg"),
    Case("figure/qq", "figure @cyclic @cyclic#5 --kind qq", "deployments", "out:svg"),
    Case("figure/no-such-kind", "figure @cyclic --kind pie", "single", "out:svg"),
    # Exports.
    Case("export/csv", "export @cyclic --csv", kept="out:csv", quick=True),
    Case("export/csv-rhealstone", "export @rhealstone --csv", kept="out:csv"),
    Case("export/csv-middleware", "export @middleware-latency#1 --csv", "middleware", "out:csv"),
    Case("export/json", "export @cyclic --json", kept="out:json"),
    Case("export/json-taskset", "export @taskset --json", kept="out:json"),
    Case("export/parquet", "export @cyclic --parquet", kept="out:parquet"),
    Case("export/perfetto", "export @cyclic --perfetto", "late", "out:json"),
    Case("export/perfetto-plain", "export @cyclic --perfetto", "single"),
    Case("export/bins", "export @cyclic#4 --csv", "single", "out:csv"),
    Case("export/bins-json", "export @cyclic#4 --json", "single", "out:json"),
    Case("export/extremes", "export @cyclic#4 --csv --extremes", "single", "out:csv"),
    # Comparisons.
    Case("compare/two-runs", "compare @cyclic#10 @cyclic#11", "single", "json page"),
    Case(
        "compare/repetitions",
        "compare @cyclic,@cyclic#1,@cyclic#2 @cyclic#3,@cyclic#4,@cyclic#5",
        "deployments",
        "json page",
    ),
    Case(
        "compare/alike",
        "compare @cyclic,@cyclic#1,@cyclic#2 @cyclic#6,@cyclic#7,@cyclic#8",
        "deployments",
        "json",
    ),
    Case(
        "compare/gates",
        "compare @cyclic#10 @cyclic#11 --strict --fail-on p99+10% --fail-on 'max +50%' --fail-on misses+1%",
        "single",
        "markdown junit",
        quick=True,
    ),
    Case("compare/history", "compare @cyclic#5 @cyclic#7", "nights", "json"),
    Case("compare/no-history", "compare @cyclic#5 @cyclic#7 --no-history", "nights"),
    Case("compare/not-comparable", "compare @cyclic @clock", "experiments", "json"),
    Case("compare/histogram", "compare @cyclic @cyclic#4", "single", "json page"),
    Case("compare/causes", "compare @cyclic @cyclic#2", "late", "json page"),
    Case("compare/cells", "compare plan-latest/idle plan-latest/exit", "plan", "json"),
    Case("compare/tires", "compare @tire @tire#1", "experiments"),
    Case("compare/responses", "compare @middleware-latency @middleware-latency#1", "middleware", "json page"),
    # Selections.
    Case(
        "select/deployments",
        "select " + " ".join(f"@cyclic#{at}" for at in range(12)),
        "deployments",
        "json page",
    ),
    Case(
        "select/by-run",
        "select @cyclic @cyclic#3 @cyclic#6 --by run --metric max --per 100",
        "deployments",
        "json",
    ),
    Case("select/misses", "select @cyclic @cyclic#3 --metric misses", "deployments", quick=True),
    Case("select/blame", "select @cyclic @cyclic#2 --metric blame", "late", "json"),
    Case("select/plan", "select plan-latest", "plan", "page"),
    # Trends.
    Case("trend/quantile", "trend 'latency p99'", "nights", "json page", quick=True),
    Case("trend/maximum", "trend 'latency max'", "nights", "json"),
    Case(
        "trend/kernels-in-one", "trend 'latency median' --by machine,deployment,load", "nights", "json page"
    ),
    Case("trend/misses", "trend misses", "nights", "json"),
    Case("trend/blame", "trend blame irq", "late", "json"),
    Case("trend/last", "trend 'latency median' --last 4", "nights"),
    Case("trend/since", "trend 'latency median' --since 2026-03-10", "nights"),
    Case("trend/no-metric", "trend", "nights"),
    # Plans and grids, from what is stored.
    Case("run/plan", "run plans/deployments.plan.toml", "plan", "json markdown junit", quick=True),
    Case("run/dry-run", "run --dry-run plans/deployments.plan.toml", "plan", "json"),
    Case("run/dry-run-anew", "run --dry-run --again --seed 3 plans/deployments.plan.toml", "plan", "json"),
    Case("report/plan", "report plan-latest", "plan", "page"),
    Case("report/tire-grid", "report plan-latest", "tire-grid", "page markdown"),
    Case("report/tire-limit", "report limit-latest", "tire-limit", "page"),
    Case("report/tire-model", "report plan-latest", "tire-model", "page"),
    Case("report/lab-matrix", "report matrix-latest", "lab", "page markdown"),
    Case("report/laurich2004", "report plan-latest", "laurich2004", "page"),
    Case("show/lab-matrix", "show latest", "lab"),
    Case("show/lab-diff", "show latest", "lab-diff"),
    Case("compare/lab-diff", "compare latest~1 latest", "lab-diff", "json"),
    Case("figure/lab-matrix", "figure matrix-latest --kind list", "lab"),
    # Papers.
    Case("reproduce/list", "reproduce", kept="json", quick=True),
    Case("reproduce/dry-run", "reproduce laurich2004 --quick --dry-run", "experiments"),
    Case(
        "reproduce/laurich2004",
        "reproduce laurich2004 --plan plans/laurich2004.tiny.plan.toml --on lab:debian-rt",
        "laurich2004",
        "folder",
    ),
    Case(
        "reproduce/koh2013",
        "reproduce koh2013 --plan plans/koh2013.tiny.plan.toml --on lab:debian-rt",
        "koh2013",
        "only-json",
    ),
    *(
        Case(
            f"reproduce/{name}",
            f"reproduce {name} --plan plans/{name}.tiny.plan.toml --on lab:debian-rt",
            name,
            kept,
        )
        for name, kept in {
            "schmidt2002": "json folder",
            "delgado2020": "only-json",
            "garre2014": "only-json",
        }.items()
    ),
    # The virtual lab.
    Case(
        "lab/diff",
        "lab diff debian:rt debian:cloud,preempt=none --duration 200ms --no-trace",
        "lab-diff",
        "json page",
        measured=("@cyclic", "@cyclic#1"),
    ),
    Case("lab/kernels", "lab kernels", kept="json", quick=True),
    # Grids whose cells are all in the store.
    Case("tire/fast", _typed("tire-grid", 0), "tire-grid", "json", machine="guest"),
    Case("tire/map", _typed("tire-grid", 1), "tire-grid", "json", machine="guest"),
    Case("tire/model", _typed("tire-model", 0), "tire-model", "json", machine="one"),
    Case("middleware/throughput", _typed("middleware", 0), "middleware", "json", machine="guest"),
    Case("middleware/latency", _typed("middleware", 1), "middleware", "json", machine="guest"),
    Case("middleware/footprint", _typed("middleware", 2), "middleware", "json", machine="guest"),
    # A loop.
    Case(
        "check/holds",
        "check --rate 1kHz --misses '1 in 10'",
        kept="json page junit markdown",
        measured=("@cyclic",),
        quick=True,
    ),
    Case(
        "check/no-misses",
        "check --rate 1kHz --misses 0",
        kept="page junit markdown",
        measured=("@cyclic",),
    ),
    Case(
        "check/not-shown",
        "check --rate 1kHz --misses '1 per hour' --deadline 100us",
        kept="json page",
        measured=("@cyclic",),
    ),
    Case(
        "check/does-not-hold",
        "check --rate 1kHz --misses '1 in 1000' --deadline 5us",
        "long",
        "page junit",
        measured=("@cyclic",),
    ),
    Case(
        "check/tail",
        "check --rate 1kHz --misses '1 per hour' --deadline 20us",
        "long",
        "page",
        measured=("@cyclic",),
    ),
    Case(
        "check/counted",
        "check --rate 1kHz --misses '1 per hour' --deadline 100us --counted",
        "experiments",
        "",
        measured=("@cyclic",),
    ),
    Case(
        "check/two-loads",
        "check --rate 1kHz --load idle --load cpu+memory --misses '1 in 100'",
        "single",
        "page junit markdown",
        measured=("@cyclic#10", "@cyclic#11"),
    ),
    Case(
        "answer/first",
        "answer",
        kept="page",
        measured=("@cyclic", "@cyclic#2", "@switch", "@response", "@clock"),
    ),
    # Task sets.
    Case("analyse/three", "analyse plans/three.tasks.toml --fail-on misses", kept="json", quick=True),
    Case("analyse/robot", "analyse plans/robot.toml", kept="json"),
    Case("analyse/edf", "analyse plans/edf.toml", kept="json"),
    Case("analyse/delgado2020", "analyse plans/delgado2020.toml --figure out/schedule.svg", kept="json"),
    Case("analyse/two-cpus", "analyse plans/robot.toml --cpus 2", kept="json"),
    Case("analyse/no-such-file", "analyse plans/none.toml"),
    # Machines.
    Case("doctor/good", "doctor --root good", "single", "json", quick=True),
    Case("doctor/poor", "doctor --root poor --explain --fail-on warning", "single", "json"),
    Case("tune/list", "tune list", kept="json", machine="cores", quick=True),
    Case("tune/list-one-cpu", "tune list", machine="one"),
    Case("tune/show", "tune show", kept="json", machine="cores"),
    Case("tune/show-isolated", "tune show HMI", kept="json", machine="cores"),
    Case("load/list", "load list", kept="json", quick=True),
    # Notebooks.
    Case("notebook/runs", "", make=_notebook("single", lambda tc, place: tc.runs(place))),
    Case("notebook/run", "", make=_notebook("long", lambda tc, place: tc.open("latest", place))),
    Case(
        "notebook/summary", "", make=_notebook("single", lambda tc, place: tc.open("latest", place).summary())
    ),
    Case(
        "notebook/quantile",
        "",
        make=_notebook("long", lambda tc, place: tc.open("latest", place).quantile(0.999)),
    ),
    Case(
        "notebook/tail", "", make=_notebook("long", lambda tc, place: tc.open("latest", place).tail("100us"))
    ),
    Case(
        "notebook/check",
        "",
        make=_notebook("long", lambda tc, place: tc.open("latest", place).check("latency p99.9 < 100us")),
    ),
    Case(
        "notebook/course", "", make=_notebook("single", lambda tc, place: tc.open("latest~9", place).course())
    ),
    Case(
        "notebook/compare",
        "",
        make=_notebook("single", lambda tc, place: tc.compare("latest~1", "latest", store=place)),
    ),
    Case(
        "notebook/select",
        "",
        make=_notebook("single", lambda tc, place: tc.select("latest~1", "latest", store=place)),
    ),
    Case(
        "notebook/plan-samples",
        "",
        make=_notebook("long", lambda tc, place: tc.plan_samples("p99.99", like="latest", store=place)),
    ),
    # Help.
    Case("help/tauto", "", make=_help(""), quick=True),
    Case(
        "help/reading",
        "",
        make=_help(
            "list",
            "live",
            "show",
            "tail",
            "plan-samples",
            "report",
            "compare",
            "select",
            "trend",
            "figure",
            "export",
            "recover",
        ),
    ),
    Case("help/measuring", "", make=_help("answer", "check", "run", "reproduce", "doctor", "analyse")),
    *(
        Case(f"help/{verb}", "", make=_help(verb))
        for verb in ("probe", "tire", "middleware", "lab", "load", "tune")
    ),
    # What is refused.
    Case("refused/no-such-verb", "sho"),
    Case("refused/no-such-option", "show --intervall", "single"),
    Case("refused/no-such-measure", "tail @cyclic --measure response", "single"),
    Case("refused/no-such-campaign", "report plan-latest", "single", "page"),
    Case("refused/unknown-unit", "tail @cyclic --limit 5parsecs", "single"),
    Case("refused/kernel-not-fetched", "tire fast --on lab:debian-rt --nodes 48 --threads 1"),
    Case("refused/gate", "compare @cyclic#10 @cyclic#11 --fail-on 'p99 worse'", "single"),
    Case("refused/plan", "run --dry-run plans/three.tasks.toml", "single"),
)
CASES = tuple(sorted((*_of_experiments(), *_ALL), key=lambda case: case.name))
