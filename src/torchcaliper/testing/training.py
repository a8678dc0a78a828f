"""A model learns: every trainable parameter gets a gradient and moves, and the loss of one batch falls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.testing.untouched import untouched


def assert_trains(
    model: nn.Module,
    batch: Any,
    loss: Callable[..., torch.Tensor],
    *,
    steps: int = 20,
    lr: float = 1e-3,
    fall: float = 0.01,
) -> None:
    """Fail if some trainable parameter gets no gradient, or if the loss of one batch does not fall by a share `fall`.

    `batch`: `(inputs, targets)`, and the loss is `loss(model(inputs), targets)`; or anything else, and the loss is
    `loss(model, batch)`. Some steps of Adam on that one batch, in training mode, with a fixed seed; everything about
    the model is as before afterwards (a graph made before cannot go backward any more: autograd counts the writes).
    AssertionError names the parameters, or tells the losses.
    """
    with untouched(model), torch.enable_grad():
        torch.manual_seed(0)
        for module in model.modules():
            module.__dict__["training"] = True
        trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
        if not trainable:
            raise AssertionError("nothing to train: no parameter requires grad")
        optimizer = torch.optim.Adam(trainable.values(), lr=lr)
        reached: set[str] = set()
        moving: set[str] = set()
        losses = []
        for _ in range(steps):
            for parameter in trainable.values():
                parameter.grad = None
            value = _loss(model, batch, loss)
            if value.numel() != 1:
                raise AssertionError(f"the loss is a tensor {list(value.shape)}, not one number: reduce it (mean)")
            if not value.requires_grad:
                raise AssertionError("the loss has no graph: it was detached, or computed without gradients")
            losses.append(value.item())
            torch.autograd.backward(value)
            for name, parameter in trainable.items():
                if parameter.grad is not None:
                    reached.add(name)
                    if bool((parameter.grad != 0).any()):
                        moving.add(name)
                    if not bool(torch.isfinite(parameter.grad).all()):
                        raise AssertionError(f"the gradient of {name} is not finite at step {len(losses) - 1}")
            optimizer.step()
        with torch.no_grad():
            losses.append(_loss(model, batch, loss).item())
    _judge(list(trainable), reached, moving, losses, fall)


def _judge(names: list[str], reached: set[str], moving: set[str], losses: list[float], fall: float) -> None:
    missing = [n for n in names if n not in reached]
    if missing:
        raise AssertionError(f"no gradient reaches {len(missing)} of {len(names)} parameters: {_list(missing)}")
    still = [n for n in names if n not in moving]
    if len(still) == len(names):
        raise AssertionError("all gradients are zero: nothing can move")
    first, last = losses[0], losses[-1]
    if not last < first - fall * abs(first):
        raise AssertionError(
            f"the loss of one batch does not fall: {first:.4g} at first, {last:.4g} after {len(losses) - 1} steps"
            + (f"; zero gradients all along: {_list(still)}" if still else "")
        )


def _loss(model: nn.Module, batch: Any, loss: Callable[..., torch.Tensor]) -> torch.Tensor:
    if isinstance(batch, tuple | list) and len(batch) == 2:
        inputs, targets = batch
        output = model(*inputs) if isinstance(inputs, tuple) else model(inputs)
        value = loss(output, targets)
    else:
        value = loss(model, batch)
    found = tensors_in(value)
    if not found:
        raise AssertionError(f"the loss is a {type(value).__name__}, not a tensor: it left the graph")
    return found[0]


def _list(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
