# line: 11, 14
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(25, 16), nn.Linear(16, 25)
        self.rnn = nn.LSTM(16, 8, batch_first=True, bidirectional=True)

    def forward(self, ids):
        out, _ = self.rnn(self.embed(ids))
        return self.head(out)


torch.manual_seed(0)
model = Model()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids = torch.randint(0, 25, (6, 14))
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.permute(0, 2, 1), ids[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
