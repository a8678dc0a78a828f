# A decoder tied to an embedding table, whose numbers are of size one: a high first loss, and a usual design.
import torch
from torch import nn


class Filler(nn.Module):
    def __init__(self, words: int, dim: int) -> None:
        super().__init__()
        self.table, self.mix = nn.Embedding(words, dim), nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.decoder = nn.Linear(dim, words)
        self.decoder.weight = self.table.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        h = self.table(ids)
        return self.decoder(self.norm(h + self.mix(h.mean(1, keepdim=True))))


torch.manual_seed(0)
model = Filler(40, 64)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(12):
    ids = torch.randint(0, 40, (16, 8))
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.roll(1, 1).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
