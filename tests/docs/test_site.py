"""The site is complete: public names have a description and an example, pages are listed, links lead somewhere."""

from __future__ import annotations

import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import regretless as rl
from regretless.cli.app import all_commands

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if not {"_build", "gallery"} & set(page.relative_to(DOCS).parts))
NAMES = [name for name in rl.__all__ if inspect.isclass(getattr(rl, name)) or inspect.isfunction(getattr(rl, name))]
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)


def listed(page: Path) -> set[Path]:
    """Pages in the toctrees of a page."""
    found: set[Path] = set()
    for body in TOCTREE.findall(page.read_text(encoding="utf-8")):
        for line in body.splitlines():
            if line == "NEW_PAGES":  # conf.py puts all other pages of the folder here
                found |= set(DOCS.glob("*.md"))
            elif line and not line.startswith(":"):
                found |= set(page.parent.glob(f"{line}.md"))
    return found - {page}


def test_every_page_is_in_a_toctree() -> None:
    found = {DOCS / "index.md"}.union(*(listed(page) for page in PAGES))
    missing = sorted(str(page.relative_to(DOCS)) for page in set(PAGES) - found)
    assert not missing, f"add {', '.join(missing)} to the toctree of the index page beside it"


def test_every_toctree_entry_is_a_page() -> None:
    for page in PAGES:
        for body in TOCTREE.findall(page.read_text(encoding="utf-8")):
            for line in body.splitlines():
                if line and not line.startswith(":") and line not in ("NEW_PAGES", "gallery/index"):
                    assert list(page.parent.glob(f"{line}.md")), f"{page.name} lists {line}"


def test_every_public_name_is_in_the_reference() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    documented = set(re.findall(r"auto(?:class|function):: regretless\.(\w+)$", text, re.MULTILINE))
    assert not set(NAMES) - documented
    assert "automodule:: regretless.errors" in text


def test_the_reference_of_the_command_line_has_a_section_for_all_commands() -> None:
    pytest.importorskip("sphinx.util")
    page = runpy.run_path(str(DOCS / "_ext" / "command_line.py"))["CommandLine"]
    sections = page.run(object.__new__(page))
    assert [section["names"][0] for section in sections] == list(all_commands())
    train = next(section for section in sections if section["names"][0] == "train")
    seed = next(row.astext() for row in train.findall(lambda node: node.tagname == "row") if "--seed" in row.astext())
    assert seed.endswith("\n0"), "a default of 0 is shown"


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_a_description_and_an_example_that_is_run(name: str) -> None:
    text = inspect.getdoc(getattr(rl, name)) or ""
    assert text.split("\n")[0].strip().endswith((".", ":")), f"{name} starts with one sentence"
    blocks = [
        block for page in PAGES for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    ]
    assert ">>>" in text or any(re.search(rf"\brl\.{name}\b", block) for block in blocks), f"{name} has no example"


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", "")).replace(" ", "-")


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_anchors_of_links_are_headings(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", text):
        to = page.parent / target if target else page
        headings = re.findall(r"^#+ (.*)$", to.read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in {slug(heading) for heading in headings}, f"{page.name} points to {target}#{anchor}"


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("furo")
    pytest.importorskip("sphinx_gallery")
    # The gallery is executed by `make docs`, and example by example in tests/examples.
    words = ["-W", "-q", "-D", "plot_gallery=0", "-b", "html", str(DOCS), str(tmp_path)]
    built = subprocess.run([sys.executable, "-m", "sphinx", *words], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
