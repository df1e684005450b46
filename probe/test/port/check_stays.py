"""Runs the probe of a port and looks at its books: no measuring thread left the real-time domain, and all adds up.

usage: check_stays.py PROBE EXPERIMENT [options]
exit codes: 0 as it should be, 77 this user may not have real-time priority here (left out), 1 otherwise
"""

import json
import struct
import subprocess
import sys

HEADER = struct.Struct("<4s4xI12x")
HEADER_FRAME, FOOTER_FRAME = 1, 4
NOT_PERMITTED, LEFT_OUT = 3, 77
RUNS = 5  # so many are tried: a machine that stands still for as long as one takes leaves it without a row
WINE = "/usr/lib/wine/wine64"


def records(stream: bytes):
    at = 0
    while at < len(stream):
        magic, length = HEADER.unpack_from(stream, at)
        assert magic == b"TAUF", at
        if stream[at + 4] in (HEADER_FRAME, FOOTER_FRAME):
            yield stream[at + 4], json.loads(stream[at + HEADER.size : at + HEADER.size + length])
        at += HEADER.size + length


def books_of(command: list[str], windows: bool) -> list[dict]:
    run = subprocess.run(command, capture_output=True, check=False)
    if run.returncode == NOT_PERMITTED:
        sys.exit(LEFT_OUT)
    assert run.returncode == 0, run.stderr.decode()
    found = dict(records(run.stdout))
    system, footer = found[HEADER_FRAME]["system"], found[FOOTER_FRAME]
    assert not windows or system["emulator"], system
    assert footer["ended"] == "complete", footer
    for book in footer["books"]:
        assert book["completed"] == book["recorded"] + book["dropped"] + book.get("voided", 0), book
        if "released" in book:
            assert book["released"] == book["completed"] + book["missed"], book
        if not windows:  # there is one domain there
            assert (book.get("inband_switches", 0), book.get("voided", 0)) == (0, 0), book
    return footer["books"]


def main() -> int:
    windows = sys.argv[1].endswith(".exe")
    enough = any if windows else all  # on Wine a row may be late each time
    for _ in range(RUNS):
        books = books_of([*([WINE] if windows else []), *sys.argv[1:], "--out", "-"], windows)
        if enough(book["recorded"] for book in books):
            return 0
    raise AssertionError(books)


sys.exit(main())
