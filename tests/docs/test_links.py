"""Links lead somewhere, and commands of make are there."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.docs.markdown import DOCS, README, ROOT, blocks, text_of

TEXTS = [README, ROOT / "CHANGELOG.md", *DOCS]
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")


def anchors(file: Path) -> set[str]:
    """The headings of a text, as GitHub links to them."""
    headings = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: str(file.name))
def test_links_lead_to_files_and_headings(file: Path) -> None:
    broken = []
    for path, anchor in LINK.findall(file.read_text("utf-8")):
        target = file.parent / path if path else file
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{path}#{anchor}")
    assert broken == []


def test_every_page_is_linked_from_the_readme() -> None:
    linked = {path for path, _ in LINK.findall(README.read_text("utf-8"))}
    assert {f"docs/{page.name}" for page in DOCS} <= linked


@pytest.mark.parametrize("file", [README, *DOCS], ids=lambda file: str(file.name))
def test_files_that_are_named_exist(file: Path) -> None:
    """Paths with a folder of ours before them; capitals stand for a name of one's own."""
    named = re.findall(r"`((?:config|proxy|middlewares|tests|deploy)/[\w./]*)`", file.read_text())
    missing = [path for path in named if not (ROOT / path).exists()]
    assert [path for path in missing if not re.search("NAME", path)] == []


def test_targets_of_make_exist() -> None:
    makefile = text_of("Makefile")
    commands = [
        line
        for block in blocks("sh")
        for line in block.text.splitlines()
        if line.startswith("make ")
    ]
    named = re.findall(r"^make (\S+)", "\n".join(commands), re.MULTILINE)
    assert {"run", "test", "check"} <= set(named)
    assert [name for name in named if f"\n{name}:" not in makefile] == []


def test_make_run_starts_the_demo_where_the_readme_looks_for_it() -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    # the tests themselves may run under make, which tells its sub-makes to say where they are
    command = ["make", "--no-print-directory", "--dry-run", "run"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    last = done.stdout.splitlines()[-1]
    assert last.endswith("toolwire demo --host 127.0.0.1 --port 8080")
    urls = re.findall(r"http://127\.0\.0\.1:(\d+)", README.read_text("utf-8"))
    assert set(urls) == {"8080", "8000"}  # 8000: a model server of one's own


def test_the_python_that_is_needed_is_told() -> None:
    needed = tomllib.loads(text_of("pyproject.toml"))["project"]["requires-python"]
    assert f"Python {needed.removeprefix('>=')} or newer" in README.read_text("utf-8")


def test_the_changelog_tells_what_is_not_released() -> None:
    text = text_of("CHANGELOG.md")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE)[0] == "[Unreleased]"
    kinds = re.findall(r"^### (.*)$", text, re.MULTILINE)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
