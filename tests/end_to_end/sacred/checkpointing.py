import torch
from digest import tell
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential, set_checkpoint_early_stop

calls = []


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        calls.append(torch.is_grad_enabled())
        return torch.tanh(self.drop(self.linear(x))) + nn.functional.dropout(x, 0.1)


for reentrant in (False, True):
    torch.manual_seed(0)
    parts = nn.ModuleList([Part() for _ in range(3)])
    optimizer = torch.optim.AdamW(parts.parameters())
    for step in range(4):
        x = torch.randn(2, 6, requires_grad=True)
        h = x
        with torch.autocast("cpu", enabled=step % 2 == 1):
            for part in parts:
                h = checkpoint(part, h, use_reentrant=reentrant)
        optimizer.zero_grad()
        h.float().sum().backward()
        optimizer.step()
        tell(h, x.grad, len(calls))
    with set_checkpoint_early_stop(False):
        checkpoint_sequential(nn.Sequential(*parts), 2, x, use_reentrant=reentrant).sum().backward()
    tell(parts, len(calls), calls)
