"""What the site has beside the files of docs/: pages and samples of the repository's root. mkdocs.yml names this hook."""

from __future__ import annotations

import re
from typing import Any

from examples import FENCE, ROOT
from mkdocs.structure.files import File

# Files of the root, and where they are in the site.
BESIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "LICENSE": "LICENSE",
}
LINK = re.compile(r"(?<=\]\()(?:\.\./|docs/)?([\w./-]+)")


def on_files(files: Any, config: Any) -> Any:
    """Add the files of the root, and the samples."""
    samples = {str(path.relative_to(ROOT)): str(path.relative_to(ROOT)) for path in (ROOT / "samples").rglob("*.*")}
    for path, place in (BESIDE | samples).items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """A page whose links lead to files of the site, and whose blocks of code have a language, and a file's name as title."""
    linked = LINK.sub(lambda link: BESIDE.get(link[1], link[1]), markdown)
    return FENCE.sub(lambda block: block[0].replace(block["info"], heading(block["info"].split()), 1), linked)


def heading(words: list[str]) -> str:
    """The info string of a block as Material reads it."""
    files = [word for word in words[1:] if "." in word]
    return " ".join([*words[:1], *(f'title="{file}"' for file in files)])
