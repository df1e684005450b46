"""The order of a plan's cells: whole blocks, shuffled by the seed alone."""

from collections import Counter

from tautochrone.measure.campaign.order import arrange, draw_seed

KEYS = [f"{number:012x}" for number in range(20)]


def order(seed: int, repetitions: int = 3) -> list[tuple[int, str]]:
    return [(slot.block, slot.key) for slot in arrange(KEYS, repetitions, seed)]


def test_every_block_holds_every_cell_once() -> None:
    slots = arrange(KEYS, 5, seed=1)
    assert [slot.position for slot in slots] == list(range(1, 101))
    assert [slot.block for slot in slots] == sorted(slot.block for slot in slots)
    for block in range(1, 6):
        assert Counter(slot.key for slot in slots if slot.block == block) == Counter(KEYS)


def test_blocks_differ_from_each_other_and_from_the_list() -> None:
    blocks = [[key for number, key in order(1) if number == block] for block in (1, 2, 3)]
    assert len({tuple(block) for block in [*blocks, KEYS]}) == 4


def test_the_same_seed_gives_the_same_order_and_another_seed_another() -> None:
    assert order(7) == order(7)
    assert order(7) != order(8)


def test_the_order_is_the_one_that_is_stated_whatever_the_version_of_python() -> None:
    """By SHA-256 of "seed:block:key"; written down, so that a change of the algorithm is seen."""
    named = [slot.key for slot in arrange(["a", "b", "c", "d", "e"], 2, seed=42)]
    assert "".join(named) == "cebdaebdac"


def test_more_repetitions_leave_the_blocks_before_as_they_are() -> None:
    assert order(3, 5)[: 3 * len(KEYS)] == order(3, 3)


def test_where_the_keys_stand_in_the_plan_does_not_matter() -> None:
    assert [s.key for s in arrange(KEYS[::-1], 2, 5)] == [s.key for s in arrange(KEYS, 2, 5)]


def test_listed_leaves_them_as_they_stand() -> None:
    assert [slot.key for slot in arrange(KEYS, 2, 5, "listed")] == KEYS * 2


def test_each_cell_comes_early_about_as_often_as_late() -> None:
    """Over many blocks, the mean position of a cell is the middle: 200 blocks of 20, four standard errors."""
    places: dict[str, list[int]] = {key: [] for key in KEYS}
    for slot in arrange(KEYS, 200, seed=99):
        places[slot.key].append((slot.position - 1) % len(KEYS))
    for found in places.values():
        assert abs(sum(found) / len(found) - 9.5) < 4 * 5.77 / 200**0.5


def test_a_drawn_seed_is_another_each_time() -> None:
    assert len({draw_seed() for _ in range(8)}) > 1
