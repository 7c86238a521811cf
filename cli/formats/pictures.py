"""Pictures of functions: curves in a terminal by plotille, files by matplotlib."""

from __future__ import annotations

import io
from itertools import pairwise
from math import hypot, isfinite

from ...parser.fields import Record
from .. import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from . import Style

COLOURS = "blue", "red", "green", "magenta", "cyan", "yellow"
MARKERS = (None, "+", "x", "o", "#")  # where there are no colours
SHADES = " .:-=+*#%@"
SIGNS = {"kink": "o", "jump": "x", "pole": "!"}  # of what is marked on shades
DOTS = {"kink": "wo", "jump": "rs", "pole": "r^"}  # in files
ARROWS = {False: "→↗↑↖←↙↓↘", True: ">/^\\</v\\"}


class Curves(Record):
    """Functions of one input: a row for the value and each derivative, and what is marked on them."""

    name: str
    title: str
    xs: Sequence[float]
    rows: Sequence[Sequence[float]]
    marks: Sequence[tuple[str, float, float]]

    def labels(self) -> list[str]:
        """What each row is."""
        x = self.name
        return ["value", *(f"d{k}/d{x}{k}" if k > 1 else f"d/d{x}" for k in range(1, len(self.rows)))]

    def range(self) -> tuple[float, float]:
        """What is shown: all, or beside a pole the middle of the values."""
        poles = has_pole(self.marks)
        low = high = 0.0
        for row in self.rows[:1] if poles else self.rows:
            least, most = shown(row, poles)
            low, high = min(low, least), max(high, most)
        room = 0.05 * (high - low) or 1.0
        return low - room, high + room

    def is_anywhere(self) -> bool:
        return any(map(isfinite, self.rows[0]))

    def parts(self, row: Sequence[float], which: int) -> list[list[tuple[float, float]]]:
        """A curve as pieces that go on without a break; of a derivative a kink is one too."""
        breaks = [x for kind, x, _ in self.marks if kind != "kink" or which]
        parts: list[list[tuple[float, float]]] = [[]]
        for i, (x, y) in enumerate(zip(self.xs, row)):
            if not isfinite(y) or x in breaks or (i and any(self.xs[i - 1] < place <= x for place in breaks)):
                parts.append([])
            if isfinite(y) and x not in breaks:
                parts[-1].append((x, y))
        return [part for part in parts if len(part) > 1]

    def text(self, style: Style) -> str:
        """The curves in characters, with the marks under them."""
        figure, labels, (low, high) = needed("plotille").Figure(), self.labels(), self.range()
        figure.width, figure.height = max(min(style.width or 80, 120) - 20, 20), 20
        figure.with_colors, figure.color_mode = style.colour, "names"
        figure.x_label, figure.y_label = self.name, "value"
        figure.set_x_limits(min_=self.xs[0], max_=self.xs[-1])
        figure.set_y_limits(min_=low, max_=high)
        figure.register_label_formatter(
            float, lambda value, chars, delta, left=False: format(f"{value:.4g}", f"{'<' if left else '>'}{chars}")
        )
        for which, row in enumerate(self.rows):
            for part in self.parts(row, which):
                for (x, y), (u, v) in pairwise(part):
                    if max(y, v) >= low and min(y, v) <= high:
                        y, v = (min(max(w, low), high) for w in (y, v))
                        sign = MARKERS[which % len(MARKERS)] if not style.colour else None
                        figure.plot([x, u], [y, v], lc=COLOURS[which % len(COLOURS)], marker=sign)
        text = "\n".join(line.rstrip() for line in figure.show().replace("\u2800", " ").split("\n"))
        if style.ascii:
            text = "".join("*" if "\u2800" < c < "\u2900" else c for c in text)
        drawn_as = COLOURS if style.colour else ("line", *MARKERS[1:])
        alone = len(labels) == 1 and not style.colour
        names = labels if alone else [f"{label} ({how})" for label, how in zip(labels, drawn_as)]
        said = [f"{kind} at {self.name} = {x:.12g}" for kind, x, _ in self.marks]
        return "\n".join([f"{self.title}: {', '.join(names)}", text, *said])

    def file(self, extension: str) -> bytes:
        """The curves as a file of matplotlib's."""
        figure, axes = drawn(self.title)
        for which, (row, label) in enumerate(zip(self.rows, self.labels())):
            for part in self.parts(row, which):
                axes.plot(*zip(*part), color=f"C{which}", label=label, linewidth=1.6)
                label = ""
        for kind, x, y in self.marks:
            if kind == "kink":
                axes.plot([x], [y], "o", color="black", markersize=6, fillstyle="none")
            else:
                axes.axvline(x, color="grey", linestyle="--" if kind == "pole" else ":", linewidth=1)
            axes.annotate(kind, (x, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=8)
        axes.set_xlim(self.xs[0], self.xs[-1])
        axes.set_ylim(*self.range())
        axes.axhline(0, color="lightgrey", linewidth=0.8, zorder=0)
        axes.set_xlabel(self.name)
        axes.legend()
        return saved(figure, extension)


def has_pole(marks: Sequence[tuple[str, float, float]]) -> bool:
    return any(kind == "pole" for kind, *_ in marks)


def shown(values: Iterable[float], poles: bool) -> tuple[float, float]:
    """The least and the greatest value that a picture shows: of all, or beside `poles` of those in the middle."""
    kept = sorted(filter(isfinite, values)) or [0.0]
    cut = len(kept) // 12 if poles else 0
    return kept[cut], kept[-1 - cut]


def needed(name: str) -> Any:
    """A library of the extra. Raises AdiffError where it is not installed."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise errors.usage(f'this picture needs {name.partition(".")[0]}: pip install "adiff[plot]"') from None


def drawn(title: str) -> tuple[Any, Any]:
    """A figure without a window, and its axes."""
    figure = needed("matplotlib.figure").Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title.replace("$", "\\$"), pad=16)
    return figure, axes


def saved(figure: Any, extension: str) -> bytes:
    content = io.BytesIO()
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(extension)
    figure.savefig(content, format=extension[1:], dpi=150, metadata=metadata)
    return content.getvalue()


class Field:
    """A function of two inputs on a grid, its values by (y, x), its gradient, and what is marked: kinds and places."""

    def __init__(
        self, names: Sequence[str], title: str, xs: Any, ys: Any, values: Any, dx: Any, dy: Any,
        marks: Sequence[tuple[str, float, float]],
    ) -> None:  # fmt: skip
        self.names, self.title, self.xs, self.ys = names, title, xs, ys
        self.values, self.dx, self.dy, self.marks = values, dx, dy, marks
        self.low, self.high = shown(values.ravel().tolist(), has_pole(marks))
        self.kinds = [kind for kind in SIGNS if any(kind == mark[0] for mark in marks)]

    def is_anywhere(self) -> bool:
        return any(map(isfinite, self.values.flat))

    def text(self, style: Style) -> str:
        """The values as shades from the least to the greatest, with arrows along the gradient, and signs for marks."""
        import numpy as np

        signs = {
            (int(abs(self.ys - y).argmin()), int(abs(self.xs - x).argmin())): SIGNS[kind] for kind, x, y in self.marks
        }
        lines = [self.title]
        for row in range(len(self.ys) - 1, -1, -1):
            cells = ""
            for column, value in enumerate(self.values[row]):
                dx, dy = self.dx[row, column], self.dy[row, column]
                if (row, column) in signs:
                    cells += signs[row, column]
                elif not isfinite(value):
                    cells += "?"
                elif row % 3 == 1 and column % 6 == 3 and hypot(dx, dy) > 0:
                    cells += ARROWS[style.ascii][round(float(np.arctan2(dy, dx)) / (np.pi / 4)) % 8]
                else:
                    part = (min(max(value, self.low), self.high) - self.low) / ((self.high - self.low) or 1.0)
                    cells += SHADES[min(int(part * len(SHADES)), len(SHADES) - 1)]
            lines.append(f"{self.ys[row]:>10.4g} |{cells}".rstrip())
        x, y = self.names
        lines.append(f"{y:>10} +{'-' * len(self.xs)} {x}")
        first, last = f"{self.xs[0]:.4g}", f"{self.xs[-1]:.4g}"
        lines.append(" " * 12 + first + last.rjust(len(self.xs) - len(first)))
        said = "".join(f"; {kind}s are {SIGNS[kind]}" for kind in self.kinds)
        ends = f"from {self.low:.6g} ('{SHADES[0]}') to {self.high:.6g} ('{SHADES[-1]}')"
        lines.append(f"{ends}; arrows point along the gradient{said}")
        return "\n".join(lines)

    def file(self, extension: str) -> bytes:
        """Contours and the gradient field, with a dot for each mark."""
        import numpy as np

        figure, axes = drawn(self.title)
        levels = np.linspace(self.low, self.high if self.high > self.low else self.low + 1.0, 21)
        extend = "both" if has_pole(self.marks) else "neither"
        filled = axes.contourf(self.xs, self.ys, self.values, levels=levels, cmap="viridis", extend=extend)
        axes.contour(self.xs, self.ys, self.values, levels=levels, colors="white", linewidths=0.4)
        figure.colorbar(filled)
        part = slice(None, None, max(len(self.xs) // 16, 1)), slice(None, None, max(len(self.ys) // 16, 1))
        at = self.xs[part[0]], self.ys[part[1]]
        dx, dy = self.dx[part[1], part[0]], self.dy[part[1], part[0]]
        size = np.hypot(dx, dy)
        room = shown(size.ravel().tolist(), has_pole(self.marks))[1]
        shrunk = np.minimum(
            1.0, room / np.maximum(size, 1e-300)
        )  # or the arrows at a pole would be the only ones to be seen
        if room:
            axes.quiver(*at, dx * shrunk, dy * shrunk, color="black", width=0.003)
        for kind in self.kinds:
            places = [mark[1:] for mark in self.marks if mark[0] == kind]
            axes.plot(*zip(*places), DOTS[kind], markersize=4, markeredgecolor="black", markeredgewidth=0.5, label=kind)
        if self.kinds:
            axes.legend()
        axes.set_xlabel(self.names[0])
        axes.set_ylabel(self.names[1])
        return saved(figure, extension)
