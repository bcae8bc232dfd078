"""A directive that writes the reference of the command line from the app itself."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from regretless.cli.app import all_commands


class CommandLine(SphinxDirective):
    """``{command-line}``: one section per command, with its help, arguments and options."""

    def run(self) -> list[nodes.Node]:
        """Write all commands."""
        return [self._section(name, command) for name, command in all_commands().items()]

    def _section(self, name: str, command: Any) -> nodes.section:
        section = nodes.section(ids=[name.replace(" ", "-")], names=[name])
        section += nodes.title("", f"regretless {name}")
        section += _text((command.help or "").strip())
        context = command.make_context(name, [], resilient_parsing=True)
        usage = " ".join(command.collect_usage_pieces(context))
        section += nodes.literal_block("", f"regretless {name} {usage}", language="text")
        if command.params:
            section += _table([_row(parameter) for parameter in command.params])
        return section


def _text(text: str) -> nodes.paragraph:
    """A paragraph with options as code: elsewhere Sphinx turns two hyphens into a dash."""
    paragraph = nodes.paragraph()
    for part in re.split(r"(--[a-z-]+)", text):
        paragraph += nodes.literal("", part) if part.startswith("--") else nodes.Text(part)
    return paragraph


def _row(parameter: Any) -> tuple[str, str, str]:
    is_argument = parameter.param_type_name == "argument"
    name = str(parameter.name).upper() if is_argument else ", ".join(parameter.opts)
    given = parameter.default
    default = "" if callable(given) or given is None or given is False or given in ((), []) else given
    value = getattr(default, "value", default)
    return name, str(getattr(parameter, "help", "") or ""), "" if parameter.required else str(value)


def _table(rows: list[tuple[str, str, str]]) -> nodes.table:
    table, group = nodes.table(), nodes.tgroup(cols=3)
    group += [nodes.colspec(colwidth=width) for width in (25, 60, 15)]
    head, body = nodes.thead(), nodes.tbody()
    head += _cells(("option", "meaning", "default"), code=False)
    for row in rows:
        body += _cells(row, code=True)
    group += [head, body]
    table += group
    return table


def _cells(texts: tuple[str, str, str], *, code: bool) -> nodes.row:
    row = nodes.row()
    for place, text in enumerate(texts):
        literal = code and text and place != 1
        row += nodes.entry("", nodes.paragraph("", "", nodes.literal("", text)) if literal else _text(text))
    return row


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
