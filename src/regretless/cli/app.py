"""The table of commands. Each is imported when it is called: most of them need torch, which takes seconds."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from regretless import __version__
from regretless.cli import interrupts
from regretless.optional import was_interrupted

# The class is click's, of which some versions of typer bring their own copy.
UsageError: type[Any] = typer.BadParameter.__bases__[0]

# In the order of the help page, each with its first line.
COMMANDS = {
    "demo": "Train five methods on embedded data, print a table and write an HTML report.",
    "doctor": "Show versions, engines, data and known conflicts.",
    "train": "Train a model on a problem, or on your own model file and data, and keep the run in a folder.",
    "retrain": "Continue a run with more data: from its weights, its cache and its labels (true optima).",
    "decide": "Predict costs for new instances, solve them exactly, and write the decisions by variable name.",
    "audit": "Compare logged decisions with the true costs: regret, gain over two-stage, worst instances, drift.",
    "evaluate": "Evaluate a trained model exactly, beside two-stage: regret, relative regret and prediction error.",
    "tune": "Search for the settings with the lowest validation regret (Optuna). Test data are not used.",
    "report": "Write one self-contained HTML report of a folder of results.",
    "reproduce": "Run all experiments behind the paper's tables and figures, and compare with the published values.",
    "suite": "Compare methods on the field's problems, with all settings chosen by folds, and write a leaderboard.",
    "data": "The public data behind the paper's problems.",
}


class Commands(TyperGroup):
    """All commands. An interrupted command says what was kept, which typer alone would not print."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the command that is called."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and load_command(found.name), rest

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            interrupts.say_interrupted(stop)
            raise typer.Exit(130) from stop
        except ImportError as error:  # of a package that another one imports late, such as a backend of matplotlib
            if not was_interrupted(error):
                raise
            interrupts.say_interrupted(KeyboardInterrupt())
            raise typer.Exit(130) from error


@cache  # typer builds a command anew at each call
def load_command(name: str) -> Any:
    """Import a command: a function, or a table of further commands, in the file of its name."""
    found = getattr(import_module(f"regretless.cli.{name}"), name)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(name)(found)
        found = alone
    return typer.main.get_command(found)


def all_commands() -> dict[str, Any]:
    """All commands, those of groups by both of their words, such as ``data fetch``."""
    found: dict[str, Any] = {}
    for name in COMMANDS:
        command = load_command(name)
        inside = getattr(command, "commands", None)
        found |= {name: command} if inside is None else {f"{name} {word}": one for word, one in inside.items()}
    return found


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"regretless {__version__}")
        raise typer.Exit


app = typer.Typer(name="regretless", cls=Commands, no_args_is_help=True, add_completion=False)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Decision-focused learning: train on the regret of the decision, with a solution cache."""
    from regretless.runs.training_run import single_threaded

    single_threaded()
    interrupts.finish()


commands: Any = typer.main.get_command(app)
# Names and first lines, for the help page and for "Did you mean ...?".
commands.commands.update({name: TyperCommand(name, help=line) for name, line in COMMANDS.items()})
