from __future__ import annotations

import torch

from regretless.cache.last_use import LastUse


def filled(places: int) -> LastUse:
    use = LastUse()
    use.stamps = torch.zeros(places, dtype=torch.int64)
    use.insert(slice(0, places), places)
    return use


def test_the_first_of_a_batch_leaves_first():
    assert filled(4).oldest(4, 3).tolist() == [0, 1, 2]


def test_what_was_used_leaves_later_and_what_was_used_together_in_the_order_of_places():
    use = filled(4)
    use.use([2, 0])
    assert use.oldest(4, 4).tolist() == [1, 3, 0, 2]
    use.use(torch.tensor([1]))
    assert use.oldest(4, 4).tolist() == [3, 0, 2, 1]


def test_a_solution_in_the_place_of_an_old_one_is_new():
    use = filled(3)
    use.insert(torch.tensor([0]), 1)
    assert use.oldest(3, 2).tolist() == [1, 2]
    assert use.clock == 4


def test_only_the_places_in_use_are_candidates():
    use = filled(4)
    use.use([0, 1])
    assert use.oldest(2, 1).tolist() == [0]
