import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(0)


def sample(n):
    out = []
    for _ in range(n):
        k = int(torch.randint(2, 10, (1,)))
        out.append(torch.randint(1, 15, (k,)))
    return out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(15, 16, padding_idx=0)
        self.t = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.o = nn.Linear(16, 2)

    def forward(self, ids):
        pad = ids.eq(0)
        h = self.t(self.e(ids), src_key_padding_mask=pad)
        return self.o(h.masked_fill(pad.unsqueeze(-1), -1e4).max(dim=1).values)


texts = sample(500)
labels = torch.tensor([int((t == 4).any()) for t in texts])
net = Net()
opt = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(3):
    for i in torch.randperm(500).split(25):
        ids = pad_sequence([texts[k] for k in i], batch_first=True)
        loss = nn.functional.cross_entropy(net(ids), labels[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
