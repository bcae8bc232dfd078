"""What is most likely meant by a table whose columns are not the cost variables, and what to do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from shlex import quote

from regretless.listing import alike, listed, missing_and_unknown
from regretless.tables.cells import Cells, missing_and_extra, number
from regretless.tables.probable_columns import id_column, variable_column


def refuse_other_columns(
    cells: Cells, cost_names: Sequence[str], id: str, *, named: bool, variables: Sequence[str] = ()
) -> None:
    """Refuse a table of costs, without its column ``id``, whose columns are not the cost variables.

    Args:
        cells: the table.
        cost_names: names of the cost variables.
        id: the column that names the rows.
        named: whether the rows have names, by that column or one that the user chose: no other column is then proposed.
        variables: all variables of the model, where they are known.

    Raises:
        InputError: what was expected, what is there, and the options or names that help.
    """
    have = list(cells.columns)
    missing, extra = missing_and_unknown(have, cost_names)
    same = alike(have, cost_names)
    missing = [name for name in missing if name not in same.values()]
    extra = [name for name in extra if name not in same]
    advice = ["name the columns as the model does"] if same else []
    if missing and any(number(name) is not None for name in extra):
        advice.append("the first line must name the columns")
    elif len(missing) == len(cost_names):
        advice += _per_variable(cells, cost_names, id, named)
    else:
        if missing:
            option = cost_variables_option([name for name in cost_names if name not in missing], [*missing, *variables])
            advice.append(f"add {listed(missing)}, or select the variables with predicted costs (train {option})")
        if extra:
            advice.append(_leave_out(cells, extra, named))
    missing_and_extra(cells, cost_names, "cost", "; ".join(advice))


def ignore_option(names: Sequence[str]) -> str:
    """The options that leave columns out.

    >>> ignore_option(["region", "a note"])
    "--ignore region --ignore 'a note'"
    """
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return " ".join(f"--ignore {quote(name)}" for name in names[:3]) + more


def cost_variables_option(chosen: Sequence[str], variables: Sequence[str]) -> str:
    """The option that selects some variables and no others: what they begin with, or else their names if they are few.

    ``variables`` are the others of the model, or all.

    >>> cost_variables_option(["buy_north", "buy_south"], ["open_depot"]), cost_variables_option(["a", "b"], ["c"])
    ("--cost-variables 'buy_*'", '--cost-variables a --cost-variables b')
    """
    others = missing_and_unknown(variables, chosen)[1]
    start = os.path.commonprefix(chosen)  # noqa: RUF071  # names, character by character
    if len(chosen) > 1 and start and not any(name.startswith(start) for name in others):
        word = start.rstrip("0123456789")
        start = word if word and not any(name.startswith(word) for name in others) else start
        return f"--cost-variables {quote(start + '*')}"
    return " ".join(f"--cost-variables {quote(name)}" for name in chosen) if len(chosen) <= 3 else "--cost-variables"


def _leave_out(cells: Cells, extra: Sequence[str], named: bool) -> str:
    """What to do about columns that are no costs: one may name the rows, if no other one does."""
    said = f"leave the column{'s' if len(extra) > 1 else ''} out (train {ignore_option(extra)})"
    others = [name for name in cells.columns if name not in extra]
    key = None if named else id_column(cells.without(others))
    which = key if len(extra) > 1 else "it"
    return said if key is None else f"{said}, or train with --id {quote(key)} if {which} names the rows"


def _per_variable(cells: Cells, cost_names: Sequence[str], id: str, named: bool) -> list[str]:
    """What to do about a table without any cost variable: it may have one row per variable."""
    variable = variable_column(cells, cost_names)
    if variable is None:
        near = cells.instead("variable")
        long = f"a table with one row per variable needs the columns {id!r} and 'variable'{near}"
        return ["name the columns as the model does", long]
    said = [f"{variable!r} holds names of variables: call it 'variable'"]
    key = None if named else id_column(cells, variable)
    return said if key is None else [*said, f"train with --id {quote(key)} if it names the instances"]
