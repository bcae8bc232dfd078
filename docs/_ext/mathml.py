"""Write formulas as MathML, which browsers draw themselves: pages need no script and no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def inline(self: Any, node: nodes.math) -> None:
    """A formula in a line."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """A formula of its own."""
    formula = node.astext().replace("{aligned}", "{align*}")  # latex2mathml has only the latter
    self.body.append(f'<div class="math">{convert(formula, display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Make this the renderer of formulas."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("config-inited", lambda _, config: setattr(config, "html_math_renderer", "mathml"))
    return {"parallel_read_safe": True}
