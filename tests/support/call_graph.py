"""Which functions of the probe a thread that measures can come to, as the compiler sees it."""

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from where import ROOT

PROBE = ROOT / "probe"
GCC = (
    "gcc", "-std=c17", "-O0", "-w", "-fcallgraph-info", "-D_POSIX_C_SOURCE=200809L",
    '-DTAUTO_VERSION="0"', "-DLANES=2", "-DKERNEL_PORTABLE_NAME=0",
)  # fmt: skip
_EDGE = re.compile(r'^edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)" label: "([^"]*)"', re.MULTILINE)
_DEFINED = re.compile(r'^node: \{ title: "([^"]+)" label: "[^"]*" \}', re.MULTILINE)
_INDIRECT = "__indirect_call"


@dataclass
class CallGraph:
    """Calls between functions; a static one is named after its file.

    Attributes:
        calls: what each function that is defined here calls by name.
        unnamed: where each function calls by a pointer, as FILE:LINE:COLUMN.
        texts: the files that were compiled, by their paths.
        templates: functions that come out of a template, by the field that they are put into.
    """

    calls: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    unnamed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    texts: dict[str, str] = field(default_factory=dict)
    templates: dict[str, set[str]] = field(default_factory=lambda: {"kernel": {"KERNEL_NAME"}})

    def _functions_in(self, field_name: str) -> set[str]:
        """Return the functions that some initialiser or assignment puts into a field of this name."""
        found = set()
        for path, text in self.texts.items():
            for name in re.findall(rf"[.>]{field_name} = &?(\w+)\s*[,;}}]", text):
                found.add(self.named(name, path))
        return found & set(self.calls)

    def named(self, name: str, path: str) -> str:
        """Return the function that this name means in this file."""
        static = f"{path}:{name}"
        return static if static in self.calls else name

    def behind(self, place: str) -> set[str]:
        """Return what a call by a pointer can mean; ValueError if that can't be told."""
        path, line, _ = place.rsplit(":", 2)
        if path.startswith("os/"):
            return set()  # it leads into the port
        said = self.texts[path].splitlines()[int(line) - 1]
        fields = re.findall(r"(?:->|\.)(\w+)\(", said)
        found = {one for name in fields for one in self._functions_in(name) | self.templates.get(name, set())}
        if not found:
            raise ValueError(f"{place}: which functions are meant? Set the field by its name: {said.strip()}")
        return found

    def reached(self, roots: Sequence[str]) -> dict[str, set[str]]:
        """Return every function that these can come to, with those that call it."""
        callers: dict[str, set[str]] = {root: set() for root in roots}
        to_do = list(roots)
        while to_do:
            caller = to_do.pop()
            meant = set(self.calls.get(caller, ()))
            for place in self.unnamed.get(caller, ()):
                meant |= self.behind(place)
            for one in meant:
                if one not in callers:
                    callers[one] = set()
                    to_do.append(one)
                callers[one].add(caller)
        return callers

    def entries(self, creator: str) -> Iterator[str]:
        """Yield the entries of the threads that are made with this function."""
        for path, text in self.texts.items():
            if path.startswith("os/"):
                continue
            for made in re.finditer(rf"\b{creator}\(([^;]*?)\)(?: != OS_OK|;)", text):
                name = made[1].split(",")[2].strip()
                if (inner := self.named(name, path)) in self.calls:
                    yield inner
                else:  # a parameter of the function around it: what callers give
                    around = re.findall(
                        r"^static [^;{}]*?\b(\w+)\([^;{}]*\)\n\{", text[: made.start()], re.MULTILINE
                    )[-1]
                    for other, elsewhere in self.texts.items():
                        for given in re.findall(rf"\b{around}\((?!struct)[^;]*?, (\w+)\)", elsewhere):
                            yield self.named(given, other)


def call_graph(files: Sequence[Path], folder: Path, *, root: Path = PROBE) -> CallGraph:
    """Return the graph of these files below a root, compiled into a folder with nothing inlined."""
    graph = CallGraph()
    for path in (*files, *root.glob("*/*.h")):
        graph.texts[path.relative_to(root).as_posix()] = path.read_text()

    def compiled(path: Path) -> str:
        made = folder / "_".join(path.relative_to(root).parts)
        subprocess.run(
            [*GCC, f"-I{PROBE}", f"-I{ROOT / 'kmod'}", "-c", path, "-o", made.with_suffix(".o")],
            check=True,
        )
        return made.with_suffix(".ci").read_text().replace(f"{root}/", "")

    with ThreadPoolExecutor(2) as pool:
        for text in pool.map(compiled, files):
            for function in _DEFINED.findall(text):
                graph.calls.setdefault(function, set())
            for caller, callee, place in _EDGE.findall(text):
                if callee == _INDIRECT:
                    graph.unnamed[caller].add(place)
                else:
                    graph.calls[caller].add(callee)
    return graph
