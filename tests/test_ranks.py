from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from regretless.errors import FileError, InputError
from regretless.ranks import Ranks, ranks_of, unwrapped


@pytest.fixture
def alone() -> Iterator[Ranks]:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield Ranks()
    dist.destroy_process_group()


def test_without_a_process_group_the_message_says_how_to_start() -> None:
    with pytest.raises(InputError, match="start the program with torchrun"):
        Ranks()
    assert ranks_of(nn.Linear(1, 1)) is None


def test_one_rank_gathers_its_own(alone: Ranks) -> None:
    assert (alone.rank, alone.size) == (0, 1)
    assert alone.gather(torch.arange(3)).tolist() == [[0, 1, 2]]
    assert alone.gather_rows(torch.ones(2, 3)).shape == (2, 3)
    assert alone.gather_rows(torch.ones(0, 3)).shape == (0, 3)
    assert alone.gather_objects({"a": 1}) == [{"a": 1}]
    assert alone.any(True)
    assert not alone.any(False)


def test_what_the_first_rank_raises_is_raised(alone: Ranks) -> None:
    def broken() -> None:
        raise FileError("damaged")

    assert alone.first(lambda: 3) == 3
    with pytest.raises(FileError, match="damaged"):
        alone.first(broken)


def test_a_wrapped_model_names_its_ranks(alone: Ranks) -> None:
    model = nn.Linear(2, 1)
    wrapped = DistributedDataParallel(model)
    ranks = ranks_of(wrapped)
    assert ranks is not None
    assert ranks.size == 1
    assert unwrapped(wrapped) is model
    assert unwrapped(model) is model


def test_only_the_processes_of_a_group_gather(alone: Ranks, monkeypatch: pytest.MonkeyPatch) -> None:
    group, used = dist.new_group([0]), []
    ranks = ranks_of(DistributedDataParallel(nn.Linear(2, 1), process_group=group))
    assert ranks is not None
    for name in ("all_gather", "all_gather_object"):
        monkeypatch.setattr(dist, name, lambda *_, group: used.append(group))
    ranks.gather_objects("own")
    ranks.gather(torch.ones(1))
    assert used == [group, group]


ENDS_BESIDE_A_THREAD = """
import os, threading, time
import torch.distributed as dist
from regretless.ranks import Ranks

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
Ranks()
dist.destroy_process_group()
threading.Thread(target=lambda: (time.sleep(0.1), os.write(1, b"released")), daemon=True).start()
"""


@pytest.mark.slow
def test_the_end_of_a_rank_waits_for_threads_that_need_the_interpreter() -> None:
    ended = subprocess.run([sys.executable, "-c", ENDS_BESIDE_A_THREAD], stdout=subprocess.PIPE, timeout=120)
    assert (ended.returncode, ended.stdout) == (0, b"released")
