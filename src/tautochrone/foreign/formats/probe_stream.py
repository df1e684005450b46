"""The stream of a probe that ran without tauto, where no target reaches (docs/ports.md).

It is a run's raw stream already, and is kept as it is.
"""

from datetime import UTC, datetime
from pathlib import Path

from tautochrone.base import stream
from tautochrone.base.errors import DamagedError
from tautochrone.foreign.formats import Format, ImportOptions
from tautochrone.foreign.recording import LOAD, Recording
from tautochrone.measure.cautions import cautions_of_stream
from tautochrone.run.records import Footer, Header

_PROBE = "tauto-probe"
_NAME = "probe-stream"
_NS_PER_S = 1_000_000_000
_LATEST_S = 1 << 33


def _recognises(head: bytes, _path: Path) -> bool:
    return head.startswith(stream.MAGIC)


def _read(path: Path, _options: ImportOptions) -> Recording:
    reader = stream.FrameReader()
    told: dict[int, dict[str, object]] = {}
    for frame in stream.read_file(path, reader):
        if frame.type in (stream.HEADER, stream.FOOTER):
            told[frame.type] = stream.json_payload(frame)
    if stream.HEADER not in told:
        raise DamagedError(reader.missing() or "it has no header")
    try:
        header, footer = Header.of(told[stream.HEADER]), Footer.of(told.get(stream.FOOTER, {}))
    except ValueError as error:
        raise DamagedError(f"its header or its footer makes no sense: {error}") from error
    if header.program != _PROBE or not header.experiment:
        raise DamagedError(f"it is a stream, but not one of {_PROBE}")
    return Recording(
        tool=_PROBE,
        format=_NAME,
        experiment=header.experiment,
        sources=(),
        version=header.version or "",
        measures=tuple((one.name, one.meaning or one.name) for one in header.measures),
        measured=_measured(told[stream.HEADER]),
        unknown=(LOAD, "deployment", "kernel settings", "hardware and firmware", "what the probe warned of"),
        warnings=tuple(cautions_of_stream(header, footer)),
        stream=path,
    )


def _measured(header: dict[str, object]) -> datetime | None:
    epoch = header.get("epoch")
    ns = epoch.get("realtime_ns") if isinstance(epoch, dict) else None
    known = isinstance(ns, int) and 0 < ns < _LATEST_S * _NS_PER_S
    return datetime.fromtimestamp(ns // _NS_PER_S, UTC) if known and isinstance(ns, int) else None


FORMATS = (Format(_NAME, f"a stream of {_PROBE} --out FILE", 1, _recognises, _read),)
