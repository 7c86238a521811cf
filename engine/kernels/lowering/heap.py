"""The mutable heap: frames, lists, dicts and Variables within reach, and what is in them before and after."""

from __future__ import annotations

from ..symbols.values import RESULT, VALUE, Chosen, Closure, Frame, Grid, List, Made, Records, Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Contents = dict[Any, Any]

# The one entry of a list's contents: a tuple of items, or `Rows`.
ITEMS = "$items"
# The one entry of a Variable's.
HELD = "$held"


class Rows:
    """The contents of a list that is the first `length` rows of an array."""

    __slots__ = ("array", "length")

    def __init__(self, array: Any, length: Any) -> None:
        self.array = array
        self.length = length


def contents(x: Any) -> Contents:
    if x.__class__ is List:
        return {ITEMS: Rows(x.array, x.length) if x.items is None else tuple(x.items)}
    if x.__class__ is Variable:
        return {HELD: x.value}
    return dict(x)


def refill(x: Any, held: Contents) -> None:
    """Put contents (back) into a frame, a list, a dict or a Variable."""
    if x.__class__ is Variable:
        x.value = held[HELD]
        return
    if x.__class__ is Records:
        x.__class__ = List  # type: ignore[assignment]  # what it was before a loop appended to it
    if x.__class__ is not List:
        x.clear()
        x.update(held)
        return
    items = held[ITEMS]
    if items.__class__ is Rows:
        x.items, x.array, x.length = None, items.array, items.length
    else:
        x.items, x.array, x.length = list(items), None, len(items)


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same without a look inside what they refer to."""
    if a is b:
        return True
    if a.__class__ is not b.__class__:
        return False
    if a.__class__ is Rows:
        return a.array is b.array and a.length is b.length
    if a.__class__ is tuple:
        return len(a) == len(b) and all(map(same, a, b))
    return False


def parts(x: Any) -> Iterable[Any]:
    """What a value refers to."""
    cls = x.__class__
    if cls is tuple:
        return x  # type: ignore[no-any-return]
    if cls is List:
        return x.items or ()
    if cls is Records:
        return x.columns  # type: ignore[no-any-return]
    if cls is Grid:
        return (x.cells,)
    if cls is Frame or cls is dict:
        return x.values()  # type: ignore[no-any-return]
    if cls is Closure:
        return (x.frame, *x.defaults)
    if cls is Chosen:
        return (x.then, x.otherwise)
    return x.parts if cls is Made else ()


def references(frames: Iterable[Any], x: Any) -> int:
    """How many variables, items and defaults within reach are this very value."""
    found = 0
    seen: set[int] = set()
    pending = list(frames)
    while pending:
        y = pending.pop()
        if id(y) in seen:
            continue
        seen.add(id(y))
        held = [value for slot, value in y.items() if slot not in (RESULT, VALUE)] if y.__class__ is Frame else parts(y)
        for part in held:
            found += part is x
            pending.append(part)
    return found


def sole(places: set[tuple[int, Any]], x: Any, states: Iterable[dict[int, Contents]]) -> bool:
    """Whether these places are the only ones, in several states of the objects, that refer to a list."""
    for state in states:
        for key, held in state.items():
            for slot, value in held.items():
                if (key, slot) in places:
                    continue
                seen: set[int] = set()
                pending = [value]
                while pending:
                    y = pending.pop()
                    if y is x:
                        return False
                    # What is in an object of the state is looked at with that object.
                    if id(y) not in state and id(y) not in seen:
                        seen.add(id(y))
                        pending.extend(parts(y))
    return True


def changed_within(x: Any, changes: dict[int, Contents]) -> bool:
    """Whether a list or a dict that a value is, or holds, is among the objects that have changed."""
    if x.__class__ is List or x.__class__ is dict:
        return id(x) in changes or any(changed_within(part, changes) for part in parts(x))
    return x.__class__ is tuple and any(changed_within(part, changes) for part in x)


class Heap:
    """The frames, lists, dicts and Variables that can be reached from some, and their contents now."""

    __slots__ = ("before", "objects")

    def __init__(self, roots: Iterable[Any]) -> None:
        self.objects: dict[int, Any] = {}
        self.before: dict[int, Contents] = {}
        pending = list(roots)
        while pending:
            x = pending.pop()
            cls = x.__class__
            if cls is Frame or cls is List or cls is dict or cls is Variable:
                if id(x) not in self.objects:
                    self.objects[id(x)] = x
                    held = self.before[id(x)] = contents(x)
                    pending.extend(held.values())
            elif cls is tuple:
                pending.extend(x)
            elif cls is Grid:
                pending.append(x.cells)
            elif cls is Records:
                pending.extend(x.columns)
            elif cls is Closure:
                pending.append(x.frame)
                pending.extend(x.defaults)
            elif cls is Chosen:
                pending.extend((x.then, x.otherwise))
            elif cls is Made:
                pending.extend(x.parts)

    def restore(self) -> None:
        for key, held in self.before.items():
            refill(self.objects[key], held)

    def at_first(self, x: Any) -> Any:
        """A value with its lists and dicts as they were, whatever has been put into them since."""
        if x.__class__ is tuple:
            return tuple([self.at_first(part) for part in x])
        if x.__class__ is dict and id(x) in self.before:
            return {key: self.at_first(value) for key, value in self.before[id(x)].items()}
        if x.__class__ is not List or id(x) not in self.before:
            return x
        held = self.before[id(x)][ITEMS]
        made = List(list(self.at_first(held)) if held.__class__ is tuple else [])
        made.frozen = x.frozen
        if held.__class__ is Rows:
            made.items, made.array, made.length = None, held.array, held.length
        return made

    def changes(self) -> dict[int, Contents]:
        """What is in the objects that have changed."""
        found: dict[int, Contents] = {}
        for key, x in self.objects.items():
            now, before = contents(x), self.before[key]
            if now.keys() != before.keys() or not all(same(now[k], before[k]) for k in now):
                found[key] = now
        return found

    def put(self, place: tuple[int, Any], value: Any) -> None:
        """Put a value in one place of an object."""
        x = self.objects[place[0]]
        refill(x, {**contents(x), place[1]: value})
