"""Loops over the entries of a symmetric sparsity pattern.

Each is plain Python over flat arrays of integers and floats, which Numba takes (lists do as well): a short
pattern is gone through as it stands, a long one by machine code of the very same text
(compiled_loops.py). They are given all the memory that they need, and return a tuple.

The inputs of a function are numbered from 1 in pairs, where 0 stands for none, and from 0 elsewhere.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    # Goes through a loop: `run(loop, arguments ...)`.
    Runner = Callable[..., tuple[Any, ...]]

# Colours that one integer holds as bits.
WORD = 62


def count_pairs(p: Any, q: Any, size: Any, counts: Any) -> Any:
    """Add to the numbers of pairs by their lesser input."""
    for k in range(size):
        a = p[k]
        b = q[k]
        if a > 0 and b > 0:
            counts[min(a, b)] += 1
    return (size,)


def pairs_by_row(p: Any, q: Any, size: Any, places: Any, columns: Any) -> Any:
    """Put the greater inputs of pairs where those of their lesser input go next."""
    for k in range(size):
        a = p[k]
        b = q[k]
        if a > 0 and b > 0:
            row = min(a, b)
            columns[places[row]] = max(a, b)
            places[row] += 1
    return (size,)


def entries_in_order(n: Any, ends: Any, rows: Any, columns: Any) -> Any:
    """The entries of the upper triangle, in order and each once, and how many they are.

    `columns` has those of each row together, counted from 1 and in any order, up to the row's end in `ends`. Rows are put
    in order by Shell's sort: most are short, or nearly in order already.
    """
    entries = 0
    start = 0
    for row in range(1, n + 1):
        end = ends[row]
        gap = 1
        while 9 * gap < end - start:
            gap = 3 * gap + 1
        while gap > 0:
            for k in range(start + gap, end):
                column = columns[k]
                place = k
                while place - gap >= start and columns[place - gap] > column:
                    columns[place] = columns[place - gap]
                    place -= gap
                columns[place] = column
            gap = gap // 3
        last = 0
        for k in range(start, end):
            column = columns[k]
            if column != last:
                rows[entries] = row - 1
                columns[entries] = column - 1
                entries += 1
                last = column
        start = end
    return (entries,)


def adjacency(
    n: Any, entries: Any, rows: Any, columns: Any, starts: Any, places: Any, neighbours: Any, diagonal: Any
) -> Any:
    """The neighbours of each vertex, in order, from the upper triangle; the most that a vertex has.

    Those of v are neighbours[starts[v]:starts[v + 1]]. `starts` and `diagonal` are given as zeros; the latter has a 1 for
    each entry of the diagonal afterwards.
    """
    for k in range(entries):
        i = rows[k]
        j = columns[k]
        if i != j:
            starts[i + 1] += 1
            starts[j + 1] += 1
        else:
            diagonal[i] = 1
    most = 0
    for v in range(n):
        most = max(most, starts[v + 1])
        starts[v + 1] += starts[v]
        places[v] = starts[v]
    for k in range(entries):
        i = rows[k]
        j = columns[k]
        if i != j:
            neighbours[places[i]] = j
            places[i] += 1
            neighbours[places[j]] = i
            places[j] += 1
    return (most,)


def distances(entries: Any, rows: Any, columns: Any, most: Any, met: Any, found: Any) -> Any:
    """How far entries are from the diagonal, in any order; how many distances there are, or one more than the most.

    `found` has room for one more than the most, and `met` a zero for each column.
    """
    count = 0
    for k in range(entries):
        distance = columns[k] - rows[k]
        if met[distance] == 0:
            met[distance] = 1
            found[count] = distance
            count += 1
            if count > most:
                break
    return (count,)


def colour_greedily(
    n: Any, starts: Any, neighbours: Any, order: Any, words: Any, width: Any, colours: Any, seen: Any
) -> Any:
    """Star colours of vertices in an order, each the least that its neighbourhood allows; 0 if they do not suffice.

    `colours` is given as -1 for each. `seen` holds, in `words` integers of `width` bits a vertex, the colours of its
    neighbours: what a path through it may not repeat.
    """
    for k in range(n):
        v = order[k]
        colour = -1
        for word in range(words):
            forbidden = 0
            for e in range(starts[v], starts[v + 1]):
                w = neighbours[e]
                # Through a neighbour without a colour no other may have this one; through one with a colour, only a
                # vertex of a lower colour than its own is in the way.
                place = width if colours[w] < 0 else colours[w] - word * width
                if place >= width:
                    forbidden = forbidden | seen[w * words + word]
                elif place >= 0:
                    bit = 1 << place
                    forbidden = forbidden | bit | (seen[w * words + word] & (bit - 1))
            place = 0
            bit = 1
            while place < width and (forbidden & bit) != 0:
                bit = bit << 1
                place += 1
            if place < width:
                colour = word * width + place
                break
        if colour < 0:
            break
        colours[v] = colour
        word = colour // width
        bit = 1 << (colour - word * width)
        for e in range(starts[v], starts[v + 1]):
            w = neighbours[e]
            seen[w * words + word] = seen[w * words + word] | bit
    return (1 if n == 0 or colours[order[n - 1]] >= 0 else 0,)


def read_off(
    n: Any, starts: Any, neighbours: Any, diagonal: Any, colours: Any, products: Any, meeting: Any, places: Any,
    indices: Any, values: Any,
) -> Any:  # fmt: skip
    """Row, column and value of all entries of both triangles, in order, from the products; how many they are.

    `diagonal` says which entries of it are in the pattern; `products` is flat, a row of n for each colour; `meeting` has
    a zero for each colour; `places` has room for n numbers.
    """
    before = 0
    for i in range(n):
        places[i] = starts[i] + before
        before += diagonal[i]
    entries = 0
    for i in range(n):
        for e in range(starts[i], starts[i + 1]):
            meeting[colours[neighbours[e]]] += 1
        waiting = diagonal[i]
        for e in range(starts[i], starts[i + 1]):
            j = neighbours[e]
            if j > i:
                if waiting != 0:
                    indices[2 * entries] = i
                    indices[2 * entries + 1] = i
                    values[entries] = products[colours[i] * n + i] + 0.0
                    entries += 1
                    waiting = 0
                # An entry that is alone in its colour stands in its row by itself; else it does so in its column.
                row = i if meeting[colours[j]] == 1 else j
                value = products[colours[i + j - row] * n + row] + 0.0
                values[entries] = value
                # The entries of row j before the diagonal are come upon in order.
                values[places[j]] = value
                places[j] += 1
            indices[2 * entries] = i
            indices[2 * entries + 1] = j
            entries += 1
        if waiting != 0:
            indices[2 * entries] = i
            indices[2 * entries + 1] = i
            values[entries] = products[colours[i] * n + i] + 0.0
            entries += 1
        for e in range(starts[i], starts[i + 1]):
            meeting[colours[neighbours[e]]] = 0
    return (entries,)


def as_it_stands(loop: Runner, *arguments: Any) -> tuple[Any, ...]:
    """Go through a loop in Python. Lists are quicker to read there than arrays are."""
    lists = [x.tolist() if hasattr(x, "tolist") else x for x in arguments]
    result = loop(*lists)
    for x, changed in zip(arguments, lists):
        if changed.__class__ is list and x.flags.writeable:
            x[:] = changed
    return result
