import torch
from torch import nn

from blocks import Block


class Encoder(nn.Module):
    def __init__(self, vocab=20, dim=24, classes=2):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.randn(1, 10, dim) * 0.02)
        self.blocks = nn.Sequential(Block(dim, 4), Block(dim, 4))
        self.cls = nn.Linear(dim, classes)

    def forward(self, ids):
        return self.cls(self.blocks(self.tok(ids) + self.pos).mean(dim=1))


if __name__ == "__main__":
    torch.manual_seed(0)
    ids = torch.randint(0, 20, (640, 10))
    y = ((ids == 3).sum(1) > (ids == 7).sum(1)).long()
    net = Encoder()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for epoch in range(3):
        for i in torch.randperm(640).split(32):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(ids[i]), y[i])
            loss.backward()
            opt.step()
        print(epoch, loss.item())
