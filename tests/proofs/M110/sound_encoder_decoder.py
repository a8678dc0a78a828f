import torch
from torch import nn


class Translate(nn.Module):
    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(30, 16), nn.Embedding(30, 16)
        self.transformer = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True)
        self.out = nn.Linear(16, 30)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        return self.out(self.transformer(self.source(source), self.target(target), tgt_mask=mask))


torch.manual_seed(0)
net = Translate()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    source, target = torch.randint(0, 30, (6, 11)), torch.randint(0, 30, (6, 12))
    logits = net(source, target[:, :-1])
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), target[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
