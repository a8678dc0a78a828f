"""A program that makes networks and optimizers without end must not make the record grow with them."""

from __future__ import annotations

import copy

import torch
from torch import nn

import torchcaliper


def test_record_stays_small() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    sizes = []
    with torchcaliper.watch() as watched:
        for round_ in range(200):
            x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
            for network, own in ((model, optimizer), _fork(model)):
                loss = nn.functional.cross_entropy(network(x), y)
                own.zero_grad()
                loss.backward()
                own.step()
            if round_ in (99, 199):
                sizes.append(len(watched.record.to_json()))
    assert sizes[1] < 1.05 * sizes[0] < 400_000
    assert watched.record.steps == 200
    assert not [f for f in watched.findings if f.severity > 0]


def _fork(model: nn.Module) -> tuple[nn.Module, torch.optim.Optimizer]:
    trial = copy.deepcopy(model)
    return trial, torch.optim.SGD(trial.parameters(), lr=1e-2)
