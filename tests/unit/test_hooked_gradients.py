"""Taking a gradient of our own must not run what the program has hooked into its gradients."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from torchcaliper.run.hooked import HookWatch
from torchcaliper.run.patches import Local


def _on_saved(x: torch.Tensor) -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


def _on_node(x: torch.Tensor) -> None:
    assert x.grad_fn is not None
    x.grad_fn.register_hook(lambda given, got: None)


def _before_node(x: torch.Tensor) -> None:
    assert x.grad_fn is not None
    x.grad_fn.register_prehook(lambda got: None)


_HOOKS: list[Callable[[torch.Tensor], object]] = [
    lambda x: x.register_hook(lambda gradient: gradient),
    lambda x: x.retain_grad(),  # type: ignore[no-untyped-call]
    _on_saved,
    _on_node,
    _before_node,
]


@pytest.mark.parametrize("hook", _HOOKS)
def test_notices_hooks_and_leaves_nothing(hook: Callable[[torch.Tensor], object]) -> None:
    owners = (torch.Tensor, torch.autograd.graph.saved_tensors_hooks, torch.autograd.function._HookMixin)
    before = [dict(vars(owner)) for owner in owners]
    watch = HookWatch(Local())
    watch.put_on()
    x = torch.ones(3, requires_grad=True) * 2
    assert not watch.seen
    hook(x)
    assert watch.seen
    watch.take_off()
    assert [dict(vars(owner)) for owner in owners] == before


def test_takes_no_notice_of_ours() -> None:
    local = Local()
    watch = HookWatch(local)
    watch.put_on()
    local.busy = True
    _before_node(torch.ones(3, requires_grad=True) * 2)
    watch.take_off()
    assert not watch.seen


def test_notices_hooks_on_saved_tensors_that_were_there_before() -> None:
    watch = HookWatch(Local())
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        watch.put_on()
        assert not watch.seen
        watch.look()
    watch.take_off()
    assert watch.seen
