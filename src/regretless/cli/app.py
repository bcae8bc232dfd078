"""The table of commands."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from regretless import __version__
from regretless.cli.audit import audit
from regretless.cli.data import data
from regretless.cli.decide import decide
from regretless.cli.demo import demo
from regretless.cli.doctor import doctor
from regretless.cli.evaluate import evaluate
from regretless.cli.report import report
from regretless.cli.reproduce import reproduce
from regretless.cli.retrain import retrain
from regretless.cli.suite import suite
from regretless.cli.train import train
from regretless.cli.tune import tune

# The class is click's, of which some versions of typer bring their own copy.
UsageError: type[Any] = typer.BadParameter.__bases__[0]


class Commands(TyperGroup):
    """All commands. An interrupted command says what was kept, which typer alone would not print."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            print(f"\n{stop or 'interrupted'}", file=sys.stderr)
            raise typer.Exit(130) from stop


app = typer.Typer(
    name="regretless",
    cls=Commands,
    help="Decision-focused learning: train on the regret of the decision, with a solution cache.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"regretless {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    from regretless.runs.training_run import single_threaded

    single_threaded()


for command in (demo, doctor, train, retrain, decide, audit, evaluate, tune, report, reproduce, suite):
    app.command()(command)
app.add_typer(data, name="data")
# Made once: typer alone would build every command anew at each call.
commands = typer.main.get_command(app)
