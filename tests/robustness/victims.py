"""What is killed in the crash tests: a training run, a cache that is saved for ever, the command line.

``python -m tests.robustness.victims`` imports everything once and then forks a process for every line on its standard
input, a JSON list ``[what, *words]``. It answers with the process id, and later with how the process ended.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import sys
import tempfile
import traceback

import torch

from regretless.cache import SolutionCache
from regretless.cli import main as command_line
from regretless.cli.app import all_commands
from regretless.data import Dataset
from regretless.losses import MAP
from regretless.problem import Problem
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.settings import seeded
from regretless.storage import save_state
from regretless.training import fit


class Model(torch.nn.Module):
    """Linear, with dropout: its mask comes from the global generator, which a checkpoint must keep."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.dropout = torch.nn.Linear(5, 1), torch.nn.Dropout(0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.dropout(x))[..., 0]


def train(checkpoint: str, out: str, epochs: int) -> None:
    """Train to the end, going on from the checkpoint where there is one; write weights, cache and history."""
    torch.manual_seed(123)
    problem = knapsack_problem([3, 4, 5, 2, 6, 3, 7, 4], 14)
    chance = torch.Generator().manual_seed(0)
    features = torch.randn(48, 8, 5, generator=chance)
    data = Dataset.solve(problem, features, (features[..., 0].exp() * 5 + features[..., 1].abs()).double())
    cache = SolutionCache(problem, data.solutions, p_solve=0.3, seed=1, capacity=30)
    model = seeded(Model, 0)
    fitted = fit(model, MAP(cache), data, epochs=epochs, lr=0.05, batch_size=6, seed=2, checkpoint=checkpoint)
    history = [{k: v for k, v in row.items() if "seconds" not in k} for row in fitted.history]
    state = {"model": dict(model.state_dict()), "rows": cache.solutions.clone(), "history": history}
    save_state(out, state, kind="end")


def any_problem() -> Problem:
    """A problem whose solutions are of no interest."""
    return Problem(oracle=abs, dimension=40, name="any")


def two_caches() -> list[SolutionCache]:
    """Two caches that cannot be taken for one another, of about a megabyte each."""
    made = []
    for fill in (1.0, 2.0):
        rows = torch.arange(6000.0)[:, None].repeat(1, 40)
        rows[:, 1:] = fill
        made.append(SolutionCache(any_problem(), rows, p_solve=0.0))
    return made


def save_for_ever(path: str) -> None:
    """Save two caches over one another until killed."""
    both = two_caches()
    for k in itertools.count():
        both[k % 2].save(path)


def command(*words: object) -> None:
    """The command line."""
    command_line([str(word) for word in words])


def without_reader(*words: object) -> None:
    """The command line, with a standard output whose reader has left, as in ``regretless ... | head -0``."""
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, 1)
    command(*words)


def to_full_disk(*words: object) -> None:
    """The command line, with a standard output that takes nothing."""
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    command(*words)


def without_output(*words: object) -> None:
    """The command line, with a closed standard output, as in ``regretless ... >&-``."""
    os.close(1)
    sys.stdout = None  # as Python sets it when it starts like that
    command(*words)


def on_full_disk(largest: int, *words: object) -> None:
    """The command line, where no file can grow beyond a number of bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    command(*words)


VICTIMS = {
    "train": train, "cache": save_for_ever, "cli": command, "without reader": without_reader,
    "to full disk": to_full_disk, "without output": without_output, "on full disk": on_full_disk,
}  # fmt: skip


def serve() -> None:
    """Fork a victim for every line of standard input."""
    all_commands()  # imported before the forks
    print("ready", flush=True)
    for line in sys.stdin:
        what, *words = json.loads(line)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.dup2(2, 1)  # standard output belongs to the answers
                VICTIMS[what](*words)
                code = 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
            except BaseException:
                traceback.print_exc()
            finally:
                for stream in (sys.stderr, sys.stdout):
                    if stream is not None:
                        stream.flush()
                os._exit(code)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:  # loads what is loaded lazily, once and not in every fork
        train(f"{folder}/checkpoint", f"{folder}/end", 1)
    serve()
