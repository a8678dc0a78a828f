import torch
from torch import nn

PAD = 0


class Sentiment(nn.Module):
    def __init__(self, vocab=30, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(dim, 2)

    def forward(self, ids):
        keep = ids != PAD
        h = self.encoder(self.embed(ids), src_key_padding_mask=keep)
        h = (h * keep.unsqueeze(-1)).sum(1) / keep.sum(1, keepdim=True)
        return self.out(h)


def reviews(n, longest=14):
    lengths = torch.randint(4, longest + 1, (n,))
    ids = torch.randint(1, 30, (n, longest))
    ids[torch.arange(longest)[None] >= lengths[:, None]] = PAD
    ids[:, -1] = PAD
    score = ((ids > 0) & (ids < 10)).sum(1) - (ids >= 20).sum(1)
    return ids, (score > 0).long()


torch.manual_seed(0)
ids, y = reviews(640)
model = Sentiment()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    model.train()
    for i in torch.randperm(640).split(32):
        loss = nn.functional.cross_entropy(model(ids[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
