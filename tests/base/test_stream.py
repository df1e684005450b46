"""The reader of sample streams: whole frames before the damage, never a crash, never an invented sample."""

import struct
from itertools import pairwise
from pathlib import Path

import google_crc32c
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streams
from tautochrone.base import stream
from tautochrone.base.errors import DamagedError
from tautochrone.run.layout import table_layouts
from tautochrone.run.records import Header

FRAMES = list(streams.frames([[5_000, 7_000, 2_300_000, 1], [2**62, -3]], overrun="replay", rows_per_frame=2))
WHOLE = b"".join(FRAMES)
ENDS = np.cumsum([len(frame) for frame in FRAMES]).tolist()

pieces = st.lists(st.integers(0, len(WHOLE)), max_size=12).map(sorted)
repeatable = settings(derandomize=True, deadline=None)
pytestmark = pytest.mark.filterwarnings("error")


def read(*parts: bytes) -> tuple[list[stream.Frame], stream.FrameReader]:
    reader = stream.FrameReader()
    return [frame for part in parts for frame in reader.feed(part)], reader


def bytes_of(frame: stream.Frame) -> bytes:
    """The bytes that a frame stands for, made anew from what the reader gave."""
    return streams.frame(frame.type, frame.sequence, frame.payload, table=frame.table, source=frame.source)


def assert_first_frames(frames: list[stream.Frame], count: int) -> None:
    assert [bytes_of(frame) for frame in frames] == FRAMES[:count]
    assert [frame.offset for frame in frames] == [0, *ENDS][:count]


def frame_at(offset: int) -> int:
    """Which frame the byte at an offset belongs to."""
    return int(np.searchsorted(ENDS, offset, side="right"))


def with_head(frame: bytes, **replaced: int) -> bytes:
    """A frame with fields of its head replaced and the head's checksum corrected."""
    names = ("magic", "type", "table", "source", "length", "sequence", "payload_crc")
    fields = dict(zip(names, struct.unpack("<4sBBHIII", frame[:20]), strict=True)) | replaced
    head = struct.pack("<4sBBHIII", *fields.values())
    return head + struct.pack("<I", google_crc32c.value(head)) + frame[24:]


def test_a_whole_stream_is_read_to_its_end() -> None:
    frames, reader = read(WHOLE)
    assert_first_frames(frames, len(FRAMES))
    assert reader.ended
    assert reader.damage is None
    assert reader.missing() is None
    assert reader.pending_bytes == 0


def test_a_stream_cut_at_any_byte_yields_its_whole_frames_and_says_what_is_missing() -> None:
    for cut in range(len(WHOLE)):
        frames, reader = read(WHOLE[:cut])
        whole = frame_at(cut)
        assert_first_frames(frames, whole)
        assert reader.damage is None
        assert not reader.ended
        assert reader.pending_bytes == cut - [0, *ENDS][whole]
        assert f"at byte {cut:,}" in (reader.missing() or "")


@pytest.mark.slow
@repeatable
@given(pieces)
def test_the_pieces_in_which_a_stream_arrives_make_no_difference(cuts: list[int]) -> None:
    bounds = [0, *cuts, len(WHOLE)]
    frames, reader = read(*(WHOLE[a:b] for a, b in pairwise(bounds)))
    assert_first_frames(frames, len(FRAMES))
    assert reader.missing() is None


def test_a_stream_may_arrive_byte_by_byte() -> None:
    frames, reader = read(*(WHOLE[k : k + 1] for k in range(len(WHOLE))))
    assert_first_frames(frames, len(FRAMES))
    assert reader.missing() is None


@pytest.mark.slow
@repeatable
@given(st.sets(st.integers(0, 8 * len(WHOLE) - 1), min_size=1, max_size=4), pieces)
def test_flipped_bits_stop_the_reader_at_their_frame(bits: set[int], cuts: list[int]) -> None:
    damaged = bytearray(WHOLE)
    for bit in bits:
        damaged[bit // 8] ^= 1 << bit % 8
    bounds = [0, *cuts, len(WHOLE)]
    frames, reader = read(*(bytes(damaged[a:b]) for a, b in pairwise(bounds)))
    first = frame_at(min(bits) // 8)
    assert_first_frames(frames, first)
    assert reader.damage is not None
    assert reader.damage.offset == [0, *ENDS][first]
    assert "damaged" in (reader.missing() or "")


@pytest.mark.slow
@repeatable
@given(st.integers(0, len(FRAMES) - 1), st.integers(0, 2**32 - 1))
def test_a_lying_length_is_noticed_by_the_checksum_of_the_header(which: int, length: int) -> None:
    frame = bytearray(FRAMES[which])
    true_length = len(frame) - 24
    frame[8:12] = struct.pack("<I", length)
    frames, reader = read(b"".join([*FRAMES[:which], bytes(frame), *FRAMES[which + 1 :]]))
    if length == true_length:
        return
    assert_first_frames(frames, which)
    assert reader.damage == stream.Damage(
        [0, *ENDS][which], "the checksum of the frame's header does not match"
    )


@pytest.mark.slow
@repeatable
@given(st.integers(0, len(FRAMES) - 1), st.integers(0, 2**32 - 1) | st.integers(0, 300).map(lambda k: 8 * k))
def test_a_lying_length_with_a_right_checksum_invents_no_frame(which: int, length: int) -> None:
    if length == len(FRAMES[which]) - 24:
        return
    lying = with_head(FRAMES[which], length=length)
    frames, reader = read(b"".join([*FRAMES[:which], lying, *FRAMES[which + 1 :]]))
    assert_first_frames(frames, which)
    assert reader.missing() is not None
    if length > stream.MAX_PAYLOAD_BYTES or length % 8:
        assert reader.damage is not None
        assert f"{length:,} bytes is not allowed" in reader.damage.reason


@pytest.mark.slow
@repeatable
@given(st.binary(max_size=200), st.integers(0, len(FRAMES)))
def test_garbage_ends_a_stream_and_nothing_else(garbage: bytes, after: int) -> None:
    frames, reader = read(b"".join(FRAMES[:after]) + garbage)
    assert_first_frames(frames, after)
    if after < len(FRAMES) or garbage:
        assert reader.missing() is not None


@pytest.mark.parametrize(
    ("order", "whole", "reason"),
    [
        ([0, 1, 3], 2, "frame 3 stands where frame 2 belongs"),
        ([0, 1, 2, 2], 3, "frame 2 stands where frame 3 belongs"),
        ([1, 2], 0, "frame 1 stands where frame 0 belongs"),
    ],
)
def test_a_frame_lost_or_doubled_on_the_way_is_noticed(order: list[int], whole: int, reason: str) -> None:
    frames, reader = read(b"".join(FRAMES[k] for k in order))
    assert_first_frames(frames, whole)
    assert reader.damage is not None
    assert reader.damage.reason == reason


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (with_head(FRAMES[1], type=9), "frame type 9 is not known"),
        (with_head(FRAMES[1], type=stream.HEADER), "a second header"),
        (with_head(FRAMES[1], magic=b"TAUT"), "no frame begins here"),  # type: ignore[arg-type]
    ],
)
def test_a_frame_that_has_no_business_there_is_damage(bad: bytes, reason: str) -> None:
    frames, reader = read(FRAMES[0] + bad)
    assert_first_frames(frames, 1)
    assert reader.damage is not None
    assert reader.damage.reason == reason


def test_a_stream_must_begin_with_its_header() -> None:
    _, reader = read(with_head(FRAMES[1], sequence=0))
    assert reader.damage == stream.Damage(0, "the first frame is not the header")


def test_nothing_may_follow_the_footer() -> None:
    frames, reader = read(WHOLE, b"\n")
    assert_first_frames(frames, len(FRAMES))
    assert reader.damage == stream.Damage(len(WHOLE), "bytes follow the footer")


def test_after_damage_nothing_more_is_read() -> None:
    reader = stream.FrameReader()
    reader.feed(FRAMES[0] + b"x" * 24)
    assert reader.feed(FRAMES[1]) == []
    assert reader.pending_bytes == 0


def test_the_buffer_that_was_fed_may_be_written_to_again() -> None:
    buffer = bytearray(WHOLE)
    frames, _ = read(memoryview(buffer))  # type: ignore[arg-type]
    buffer[:] = bytes(len(buffer))
    assert_first_frames(frames, len(FRAMES))


def test_a_file_is_read_as_the_bytes_are(tmp_path: Path) -> None:
    latencies = np.arange(200_000)
    (tmp_path / "s").write_bytes(streams.make_stream([latencies], rows_per_frame=1000))
    reader = stream.FrameReader()
    frames = list(stream.read_file(tmp_path / "s", reader))
    dtype = Header.of(stream.json_payload(frames[0])).tables[0].dtype
    table = np.concatenate([stream.rows(one, dtype) for one in frames if one.type == stream.ROWS])
    assert (table["wake_ns"] - table["scheduled_ns"] == latencies).all()
    assert reader.missing() is None


def test_rows_are_views_of_the_payload() -> None:
    frames, _ = read(WHOLE)
    dtype = Header.of(stream.json_payload(frames[0])).tables[0].dtype
    rows = stream.rows(frames[3], dtype)
    assert rows.base is not None
    assert (rows["wake_ns"] - rows["scheduled_ns"]).tolist() == [2**62, -3]


def test_rows_that_are_not_whole_are_damage() -> None:
    dtype = np.dtype([("a", "<i8"), ("b", "<i8")])
    with pytest.raises(DamagedError, match="not a multiple of 16 bytes"):
        stream.rows(stream.Frame(stream.ROWS, 0, 0, 1, bytes(24), 0), dtype)


@pytest.mark.parametrize("payload", [b"", b"{", b"[1]   ", b"[" * 100_000, b"1" * 5000])
def test_a_payload_that_is_not_an_object_is_damage(payload: bytes) -> None:
    with pytest.raises(DamagedError, match="the event frame is not"):
        stream.json_payload(stream.Frame(stream.EVENT, 0, 0, 1, payload, 0))


@pytest.mark.parametrize(
    "payload", [b"\xff" * 8, b'{"tasks": "\xff"}', b'{"tasks": "\xc3"}', rb'{"tasks": "\ud800"}']
)
def test_a_text_that_is_not_utf_8_is_damage_and_called_so(payload: bytes) -> None:
    frame = stream.Frame(stream.HEADER, 0, 0, 0, payload, 0)
    with pytest.raises(DamagedError, match=r"not UTF-8|half a character"):
        stream.json_payload(frame)


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"tables": 7},
        {"tables": [7]},
        {"tables": [{"columns": []}]},
        {"tables": [{"columns": [{"name": "a", "type": "f64"}]}]},
        {"tables": [{"columns": [{"name": "a", "type": "i64"}, {"name": "a", "type": "i64"}]}]},
    ],
)
def test_a_table_that_is_not_described_is_damage(header: dict[str, object]) -> None:
    with pytest.raises(DamagedError):
        table_layouts(Header.of(header))
