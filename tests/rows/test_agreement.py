"""A table gives what each of its rows gives alone: values, derivatives, errors and notices, on either engine."""

import os
import random
from pathlib import Path
from typing import Any
from zlib import crc32

import adiff
import numpy as np
import pytest
import table_programs as programs
from generated import SIZE, program
from one_by_one import same_as_rows

DRAW = np.random.default_rng(5)
COLUMNS: dict[str, Any] = {
    "x": [-1.5, 0.0, 0.5, 2.0, 0.0, 7.25],
    "y": [0.25, 1.5, -2.0, 0.0, 3.0, -0.5],
    "n": [0, 3, 1, 5, 2, 4],
    "k": [0, 1, 2, 0, 1, 2],
    "kind": ["a", "b", "a", "c", "b", "c"],
    "side": ["long", "short", "long", "long", "short", "long"],
    "v": DRAW.uniform(-1.0, 1.0, (6, 3)),
    "w": DRAW.uniform(1.0, 2.0, (6, 2)),
    "A": DRAW.uniform(-1.0, 1.0, (6, 2, 2)),
}
MANY = 60
# Regular points, of which some fail.
REGULAR: dict[str, Any] = {
    "x": np.where(np.arange(MANY) % 3 == 0, -1.0, 1.0) * DRAW.uniform(1, 2, MANY),
    "y": DRAW.uniform(1, 2, MANY),
    "k": DRAW.integers(-4, 5, MANY),
    "v": DRAW.uniform(1, 2, (MANY, 3)),
    "w": DRAW.uniform(1, 2, (MANY, 2)),
}
# Zeros, infinities and nan.
EDGES: dict[str, Any] = {
    "x": [0.0, 1.0, -1.0, 2.0, 0.5, -2.0, np.inf, np.nan, 0.0, 0.0, 1.0],
    "y": [0.0, 1.0, 1.0, -2.0, 0.0, -2.0, 1.0, 1.0, -1.0, np.nan, -np.inf],
    "v": np.resize([[0.0, 0, 0], [1, 2, 1], [0, 2, 0], [np.nan, 1, 0], [np.inf, 1, 2], [-1, 0, 3]], (11, 3)),
}
KERNEL_PROGRAMS = (Path(__file__).parents[1] / "kernels" / "programs.txt").read_text().split("\n---\n")
SOURCES = ("x", "y", "v", "w", "A")
# Results that have no Hessian, or of which the rows have no common shape.
LONG = bool(os.environ.get("ADIFF_LONG_TESTS"))
# A kernel takes a second to compile: one of so many programs has one, and all in the long tests.
ONE_OF = 1 if LONG else 12
NO_HESSIAN = ("vector result", "list result", "no dependence")


def agree(text: str, given: dict[str, Any], order: int, **options: Any) -> Any:
    """Compare a table by the columns that the program reads."""
    columns = {name: given[name] for name in adiff.program(text).inputs}
    wrt = [name for name in columns if name in SOURCES]
    engine = "kernel" if (crc32(text.encode()) + order) % ONE_OF == 0 else "tape"
    return same_as_rows(text, columns, order, wrt=wrt, engine=engine, **options)


def named(*tables: dict[str, str]) -> pytest.MarkDecorator:
    found = {name: text for table in tables for name, text in table.items()}
    return pytest.mark.parametrize("text", found.values(), ids=found.keys())


@pytest.mark.parametrize("order", [0, 1, 2])
@named(programs.PROGRAMS, programs.OF_TENSORS, programs.STRINGS)
def test_programs(text: str, order: int) -> None:
    if order < 2 or text not in [programs.PROGRAMS[name] for name in NO_HESSIAN]:
        agree(text, COLUMNS, order)


@pytest.mark.parametrize("part", range(4))
def test_programs_of_kernels(part: int) -> None:
    """The programs on which the tiers are compared, of which the tape takes the rows one by one."""
    for case in KERNEL_PROGRAMS[part::4]:
        text = case.strip().partition("\n")[2]
        columns = {"x": [0.7, -1.6], "y": [-1.3, 0.4], "n": [5, 0], "v": [[0.3, -1.1, 0.9, 2.0], [1.5, 0.2, -0.4, 0.0]]}
        known = [name for name in adiff.program(text).inputs if name in columns]
        if known:
            same_as_rows(text, {name: columns[name] for name in known}, wrt=[name for name in known if name != "n"])


@pytest.mark.parametrize("order", [0, 1])
@named(programs.FAILING, programs.FAILING_IN_ALL)
def test_rows_that_fail(text: str, order: int) -> None:
    assert agree(text, REGULAR, order).errors


@pytest.mark.parametrize("most", [2, 4, 6])
@named(programs.STEPS)
def test_steps_are_counted_for_each_row(text: str, most: int) -> None:
    agree(text, REGULAR, 1, max_steps=most)


@pytest.mark.parametrize("order", [0, 1, 2])
@named(programs.SINGULAR)
def test_singular_points_that_are_errors(text: str, order: int) -> None:
    found = agree(text, COLUMNS, order, kinks="error")
    if order and text != programs.SINGULAR["where it does not matter"]:
        assert "E0501" in {error.code for error in found.errors.values()}


@named(programs.SINGULAR)
def test_singular_points(text: str) -> None:
    agree(text, EDGES, 2)


@pytest.mark.parametrize("start", range(0, 120, 40))
def test_generated(start: int) -> None:
    count = 8
    for seed in range(start, start + (40 if LONG else 2)):
        text = program(random.Random(seed).choice)
        draw = np.random.default_rng(seed)
        given: dict[str, Any] = {
            "x": np.round(draw.uniform(-2, 2, count), 2),
            "y": np.round(draw.uniform(-2, 2, count), 2),
            "n": draw.integers(0, 5, count),
            "v": draw.uniform(-2, 2, (count, SIZE)),
            "w": draw.uniform(-2, 2, SIZE),
        }
        given["x"][seed % count] = 0.0
        known = [name for name in adiff.program(text).inputs if name in given]
        columns = {name: given[name] for name in known if name != "w"}
        at = {"w": given["w"]} if "w" in known else {}
        wrt = [name for name in columns if name != "n"]
        same_as_rows(text, columns, 2 if seed % 5 == 0 else 1, wrt=wrt, at=at, engine="kernel", tolerance=1e-11)
