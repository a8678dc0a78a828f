import torch
from torch import nn

MASK = 0
torch.manual_seed(0)


class Bert(nn.Module):
    def __init__(self, vocab=22, dim=32):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(12, dim)
        self.body = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True), 1, enable_nested_tensor=False
        )
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(self.body(self.tok(ids) + self.pos(torch.arange(ids.shape[1]))))


net = Bert()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(80):
    start = torch.randint(1, 22, (32, 1))
    ids = (start + torch.arange(12)) % 21 + 1
    hidden = torch.rand(ids.shape) < 0.2
    logits = net(ids.masked_fill(hidden, MASK))
    loss = nn.functional.cross_entropy(logits[hidden], ids[hidden])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
