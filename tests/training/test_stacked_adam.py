from __future__ import annotations

import torch

from regretless.training.stacked_adam import StackedAdam

UNITS = {"w": torch.ones(())}


def test_each_setting_takes_the_steps_of_torch_with_its_own_rate():
    rates = torch.tensor([0.1, 0.01])
    stacked = {"w": torch.zeros(1, 2, 3)}
    adam = StackedAdam(stacked, UNITS, rates)
    alone = [torch.zeros(3, requires_grad=True) for _ in rates]
    optimizers = [torch.optim.Adam([w], lr=float(rate)) for w, rate in zip(alone, rates, strict=True)]
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        gradient = torch.randn(3, generator=generator)
        adam.step([0], {"w": gradient.expand(1, 2, 3)})
        for w, optimizer in zip(alone, optimizers, strict=True):
            w.grad = gradient.clone()
            optimizer.step()
    torch.testing.assert_close(stacked["w"][0], torch.stack(alone).detach(), rtol=1e-5, atol=1e-7)


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
