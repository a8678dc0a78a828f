# line: 11, 15
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(25, 16), nn.Linear(16, 25)
        self.conv = nn.Conv1d(16, 16, 3, padding=1)

    def forward(self, ids):
        h = self.embed(ids).transpose(1, 2)
        h = torch.relu(self.conv(h))
        return self.head(h.transpose(1, 2))


torch.manual_seed(0)
model = Model()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids = torch.randint(0, 25, (6, 14))
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
