"""Settings of the documentation site; `make docs` builds it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from regretless import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

project = "regretless"
author = "The regretless developers"
copyright = "2026, the regretless developers"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "mathml",
    "command_line",
]
exclude_patterns = ["_build", "_ext", "**/GALLERY_HEADER.rst"]
nitpicky = False
suppress_warnings = ["config.cache"]

# Pages are Markdown. Their code is run by the tests, not here.
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4

highlight_language = "text"  # of blocks that name no language: commands and what they print

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"regretless {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def arguments(_: dict[str, Any], script: dict[str, Any]) -> list[str]:
    """Arguments of an example: two years of prices take minutes, so the gallery shows fewer days."""
    return ["--days", "120", "--new", "20"] if script["src_file"].endswith("battery_every_day.py") else []


sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",  # every example is executed
    "reset_argv": arguments,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1,
    "within_subsection_order": "FileNameSortKey",
    "default_thumb_file": str(HERE / "_static" / "thumbnail.png"),
}


def add_new_pages(_: Any, docname: str, source: list[str]) -> None:
    """Put pages that no list of the start page names at the end of its list of guides."""
    if docname == "index":
        named = set(re.findall(r"^([\w-]+)$", source[0], re.MULTILINE))
        new = sorted(page.stem for page in HERE.glob("*.md") if page.stem not in {*named, "index"})
        source[0] = source[0].replace("NEW_PAGES", "\n".join(new))


def setup(app: Any) -> None:
    """Connect the hook."""
    app.connect("source-read", add_new_pages)
