"""What benchmarks read from a probe's stream without sealing it."""

from pathlib import Path

import numpy as np

from tautochrone.base.stream import HEADER, ROWS, FrameReader, json_payload, read_file, rows
from tautochrone.run.records import Header


def values_us(stream: Path, start: str, end: str) -> np.ndarray:
    """Of all rows of all sources, from one column of instants to the other."""
    parts = []
    header = Header()
    for frame in read_file(stream, FrameReader()):
        if frame.type == HEADER:
            header = Header.of(json_payload(frame))
        elif frame.type == ROWS:
            found = rows(frame, header.tables[frame.table].dtype)
            parts.append(found[end] - found[start])
    return np.concatenate(parts) / 1e3
