# A language model: scores and targets flattened, ignored positions, tied weights.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.mix = nn.Embedding(30, 16), nn.GRU(16, 16, batch_first=True)

    def forward(self, words):
        return self.mix(self.embed(words))[0] @ self.embed.weight.t()


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(10):
    words = torch.randint(30, (6, 9))
    target = words[:, 1:].masked_fill(torch.rand(6, 8) < 0.2, -1)
    loss = F.cross_entropy(model(words[:, :-1]).view(-1, 30), target.reshape(-1), ignore_index=-1)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
