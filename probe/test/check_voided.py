"""Runs the probe and looks at its books: samples that a thread took while it left its real-time domain are not there.

usage: check_voided.py PROBE EXPERIMENT [options]
"""

import json
import struct
import subprocess
import sys

HEADER = struct.Struct("<4s4xI12x")
"""Magic and length of a frame; type and table are read apart."""


def frames(stream: bytes):
    at = 0
    while at < len(stream):
        magic, length = HEADER.unpack_from(stream, at)
        assert magic == b"TAUF", at
        yield (
            stream[at + 4],
            stream[at + 6] + 256 * stream[at + 7],
            stream[at + HEADER.size : at + HEADER.size + length],
        )
        at += HEADER.size + length


def main() -> None:
    run = subprocess.run([*sys.argv[1:], "--out", "-"], capture_output=True, check=True)
    header: dict = {}
    footer: dict = {}
    rows: dict[int, int] = {}
    for kind, source, payload in frames(run.stdout):
        if kind == 1:
            header = json.loads(payload)
        elif kind == 2:
            rows[source] = rows.get(source, 0) + len(payload) // (8 * len(header["tables"][0]["columns"]))
        elif kind == 4:
            footer = json.loads(payload)
    assert footer["ended"] == "complete", footer
    for book in footer["books"]:
        assert book["inband_switches"] > 0, book
        assert 0 < book["voided"] <= book["inband_switches"], book
        assert book["dropped"] >= book["voided"], book
        assert book["completed"] == book["recorded"] + book["dropped"], book
        assert rows.get(book["source"], 0) == book["recorded"] > 0, book


main()
