import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """The network moves its input by one itself, as T5 and image GPT do; targets are what it is given."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(26, 16), nn.Linear(16, 25)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)

    def forward(self, ids):
        ids = F.pad(ids, (1, 0), value=25)[:, :-1]
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.layer(self.embed(ids), mask, is_causal=True))


torch.manual_seed(0)
model = Model()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids = torch.randint(0, 25, (6, 12))
    loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
