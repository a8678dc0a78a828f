# line: 15
# checkpoint_sequential over a whole network whose input is data; the last segment is not checkpointed and learns.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

torch.manual_seed(0)
net = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(10, 10), nn.Tanh())])
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
data = torch.randn(128, 10)


def reconstruct(batch: torch.Tensor) -> torch.Tensor:
    out: torch.Tensor
    out = checkpoint_sequential(net, 4, batch, use_reentrant=True)
    return out


for i in range(8):
    batch = data[i * 16 : i * 16 + 16]
    loss = nn.functional.mse_loss(reconstruct(batch), batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
