"""Taking a gradient of our own must not run what the program has hooked into its gradients."""

from __future__ import annotations

import torch

from torchcaliper.run.hooked import HookWatch


def test_notices_hooks_and_leaves_nothing() -> None:
    before = (vars(torch.Tensor)["register_hook"], vars(torch.autograd.graph.saved_tensors_hooks)["__enter__"])
    watch = HookWatch()
    watch.put_on()
    x = torch.ones(3, requires_grad=True) * 2
    assert not watch.seen
    x.register_hook(lambda gradient: gradient)
    assert watch.seen
    watch.put_on()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass
    assert watch.seen
    watch.put_on()
    x.retain_grad()
    assert watch.seen
    watch.take_off()
    assert "retain_grad" not in vars(torch.Tensor)
    after = (vars(torch.Tensor)["register_hook"], vars(torch.autograd.graph.saved_tensors_hooks)["__enter__"])
    assert after == before
