from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
import torch

from regretless.training import Interrupted, methods

from . import small


class Signalled(small.Model):
    """Asks its own process to stop at a given training step, as Ctrl-C would."""

    def __init__(self, inner: torch.nn.Module, at: int) -> None:
        super().__init__()
        self.linear, self.left = inner.linear, at

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGINT)
        return super().forward(x)


def rows(fitted) -> str:
    return json.dumps([{k: v for k, v in row.items() if "seconds" not in k} for row in fitted.history])


@pytest.mark.parametrize("name", map(small.fast_if_of_its_kind, methods.names()))
def test_workers_and_a_resume_change_no_bit(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = small.data()
    one, _ = small.train(name, small.problem(), given)
    searched = name == "auto" or methods.method(name).search is not None
    for workers in (2, 4) if searched else (4,):  # the run that is interrupted has 2
        other, _ = small.train(name, small.problem(workers=workers), given)
        assert torch.equal(small.weights(other), small.weights(one)), f"{workers} workers"
        assert rows(other) == rows(one)
    if searched:
        return  # it is interrupted between epochs: see tests/search and tests/training/test_direct.py
    path = tmp_path / "checkpoint"
    with monkeypatch.context() as patched:
        patched.setattr(small, "seeded", lambda made, seed: Signalled(_seeded(made, seed), 4))
        with pytest.raises(Interrupted):
            small.train(name, small.problem(workers=2), given, checkpoint=path)
    resumed, _ = small.train(name, small.problem(), given, checkpoint=path)
    assert torch.equal(small.weights(resumed), small.weights(one)), "a resume"
    assert rows(resumed) == rows(one)


_seeded = small.seeded
