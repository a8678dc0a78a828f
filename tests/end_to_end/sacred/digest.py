"""What a program of this folder says of its results: digests that change with any bit."""

import hashlib
import random

import numpy
import torch

random.seed(0)
numpy.random.seed(0)


def digest(value: object) -> str:
    """A short text that differs wherever `value` differs in any bit."""
    return hashlib.sha1(_text(value).encode()).hexdigest()[:16]


def _text(value: object) -> str:
    if isinstance(value, torch.Tensor):
        if value.is_nested or value.is_sparse:
            value = value.to_dense() if value.is_sparse else value.to_padded_tensor(0.0)
        plain = value.detach().as_subclass(torch.Tensor).contiguous().cpu()
        data = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
        kind = (value.dtype, tuple(value.shape), value.requires_grad, value.grad_fn and value.grad_fn.name())
        return f"{kind} {hashlib.sha1(data).hexdigest()}"
    if isinstance(value, torch.nn.Module):
        training = [module.training for module in value.modules()]
        return _text([value.state_dict(), training, [p.grad for p in value.parameters()]])
    if isinstance(value, torch.optim.Optimizer):
        return _text(value.state_dict())
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_text, value)) + "]"
    return repr(value)


def tell(*values: object) -> None:
    """Print digests of values, and of all random number generators."""
    state = numpy.random.get_state()
    generators = [torch.get_rng_state(), random.getstate(), state[0], state[1].tolist(), state[2:]]
    print(*[digest(value) for value in values], digest(generators), flush=True)
