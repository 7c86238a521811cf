"""The pages as a site: it builds without a warning, and its links lead to files of the site."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("material", reason="pip install -e .[docs]")


def test_the_site_is_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    assert built.returncode == 0, built.stdout + built.stderr
    pages = sorted(tmp_path.rglob("index.html"))
    assert len(pages) == len(list((ROOT / "docs").glob("*.md"))) + 3
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r'(?:href|src)="([^"#?]+)', text):
            if not link.startswith(("http", "data:", "javascript:")):
                target = (page.parent / link).resolve()
                assert target.is_file() or (target / "index.html").is_file(), f"{page}: {link}"
        assert "```" not in re.sub(r"<code>.*?</code>", "", text, flags=re.S), (
            f"{page}: a block that is not read as code"
        )
    assert "norun" not in (tmp_path / "derive" / "index.html").read_text(encoding="utf-8")
    assert 'class="mermaid"' in (tmp_path / "architecture" / "index.html").read_text(encoding="utf-8")
