# Reentrant, behind an embedding that is trained: its output requires grad. Evaluation runs without gradients.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 12)
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(12), nn.Linear(12, 12), nn.GELU()) for _ in range(3))
        self.head = nn.Linear(12, 4)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        h = self.embed(tokens)
        for block in self.blocks:
            h = h + checkpoint(block, h, use_reentrant=True)
        return self.head(h.mean(1))


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(12):
    tokens = torch.randint(0, 20, (16, 5))
    loss = nn.functional.cross_entropy(model(tokens), tokens[:, 0] % 4)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        model.eval()
        with torch.no_grad():
            model(tokens)
        model.train()
