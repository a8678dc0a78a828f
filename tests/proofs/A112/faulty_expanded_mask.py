# line: 17
# One mask is expanded over the batch, and each sample's padding is written into the one row that all share.
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(20, 8), nn.Linear(8, 2)

    def forward(self, tokens: torch.Tensor, lengths: list[int]) -> torch.Tensor:
        h = self.embed(tokens)
        keep = torch.ones(1, tokens.shape[1])
        keep = keep.expand(len(tokens), -1)
        for i, length in enumerate(lengths):
            keep[i, length:] = 0.0
        return self.head((h * keep[..., None]).sum(1))


torch.manual_seed(0)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(10):
    tokens, lengths = torch.randint(0, 20, (4, 6)), [6, 5, 3, 2]
    loss = nn.functional.cross_entropy(model(tokens, lengths), tokens[:, 0] % 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
