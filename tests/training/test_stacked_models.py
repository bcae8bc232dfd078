from __future__ import annotations

import torch

from regretless.training.stacked_models import StackedAdam

UNITS = {"w": torch.ones(())}


def test_each_setting_takes_the_steps_of_torch_with_its_own_rate_in_the_units_of_the_parameter():
    rates, unit = torch.tensor([0.1, 0.01]), 0.5
    stacked = {"w": torch.zeros(2, 2, 3)}
    adam = StackedAdam(stacked, {"w": torch.tensor(unit)}, rates)
    alone = [[torch.zeros(3, requires_grad=True) for _ in rates] for _ in range(2)]
    optimizers = [
        [torch.optim.Adam([w], lr=unit * float(rate)) for w, rate in zip(row, rates, strict=True)] for row in alone
    ]
    generator = torch.Generator().manual_seed(0)
    for step in range(20):
        streams = [0, 1] if step % 3 else [1]  # the first stream has fewer steps
        gradient = torch.randn(len(streams), 1, 3, generator=generator)
        adam.step(streams, {"w": gradient.expand(-1, 2, 3)})
        for f, slope in zip(streams, gradient, strict=True):
            for w, optimizer in zip(alone[f], optimizers[f], strict=True):
                w.grad = slope[0].clone()
                optimizer.step()
    expected = torch.stack([torch.stack(row) for row in alone]).detach()
    torch.testing.assert_close(stacked["w"], expected, rtol=1e-5, atol=1e-6)


def test_a_stream_that_is_left_out_does_not_move():
    stacked = {"w": torch.ones(2, 1, 3)}
    adam = StackedAdam(stacked, UNITS, torch.tensor([0.1]))
    adam.step([0, 1], {"w": torch.ones(2, 1, 3)})
    before = stacked["w"][0].clone()
    adam.step([1], {"w": torch.ones(1, 1, 3)})
    assert torch.equal(stacked["w"][0], before)
    assert adam.steps.tolist() == [1.0, 2.0]


def test_a_saved_state_continues():
    gradients = torch.randn(6, 1, 2, 3)
    first, second = ({"w": torch.zeros(1, 2, 3)} for _ in range(2))
    adam, again = (StackedAdam(w, UNITS, torch.tensor([0.1, 0.2])) for w in (first, second))
    for gradient in gradients[:3]:
        adam.step([0], {"w": gradient})
    second["w"].copy_(first["w"])
    again.load_state_dict(adam.state_dict())
    for one in (adam, again):
        for gradient in gradients[3:]:
            one.step([0], {"w": gradient})
    assert torch.equal(first["w"], second["w"])
