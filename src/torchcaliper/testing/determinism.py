"""The same input gives the same output in evaluation mode."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from torchcaliper.testing.dependence import first_output
from torchcaliper.testing.untouched import evaluating, untouched


def assert_deterministic_eval(model: Any, *inputs: Any, repeats: int = 3) -> None:
    """Fail if the model gives different results for the same input in evaluation mode, or changes its buffers there.

    Dropout that ignores `eval()`, BatchNorm that keeps counting, caches that grow. Bit for bit. Everything about the
    model is as before afterwards.
    """
    with untouched(model), evaluating(model), torch.no_grad():
        buffers = _buffers(model)
        plain = first_output(model(*inputs))
        changed = _changed(buffers, _buffers(model))
        if changed:
            raise AssertionError(f"the forward in evaluation mode changes buffers: {', '.join(changed)}")
        for repeat in range(1, repeats):
            again = first_output(model(*inputs))
            if again.shape != plain.shape:
                raise AssertionError(
                    f"the output is {list(plain.shape)} at first and {list(again.shape)} at call {repeat + 1}"
                )
            different = (again != plain) & ~(torch.isnan(again) & torch.isnan(plain))
            if bool(different.any()):
                share = different.float().mean().item()
                largest = torch.nan_to_num((again - plain).abs()).max().item()
                raise AssertionError(
                    f"not deterministic in evaluation mode: call {repeat + 1} on the same input differs in "
                    f"{share:.1%} of the output, by up to {largest:.3g}{_suspects(model)}"
                )


def _buffers(model: Any) -> dict[str, torch.Tensor]:
    return {n: b.detach().clone() for n, b in model.named_buffers()} if isinstance(model, nn.Module) else {}


def _changed(before: dict[str, torch.Tensor], after: dict[str, torch.Tensor]) -> list[str]:
    return [
        n for n, b in after.items() if n in before and not torch.equal(torch.nan_to_num(b), torch.nan_to_num(before[n]))
    ]


def _suspects(model: Any) -> str:
    from torch.nn.modules.dropout import _DropoutNd

    if not isinstance(model, nn.Module):
        return ""
    found = [n for n, m in model.named_modules() if isinstance(m, _DropoutNd) and m.training]
    if found:
        return f"; still in training mode: {', '.join(found[:4])}"
    return "; look for F.dropout without training=self.training, and for random numbers drawn in forward"
