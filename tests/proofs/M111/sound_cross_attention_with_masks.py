import torch
from torch import nn


class Translate(nn.Module):
    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(30, 16, padding_idx=0), nn.Embedding(30, 16, padding_idx=0)
        self.transformer = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True)
        self.out = nn.Linear(16, 30)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        h = self.transformer(
            self.source(source),
            self.target(target),
            tgt_mask=mask,
            src_key_padding_mask=source == 0,
            memory_key_padding_mask=source == 0,
        )
        return self.out(h)


def padded(length):
    ids = torch.randint(1, 30, (6, length))
    for row in range(6):
        ids[row, length - row :] = 0
    return ids


torch.manual_seed(0)
net = Translate()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    source, target = padded(11), padded(12)
    loss = nn.functional.cross_entropy(net(source, target[:, :-1]).transpose(1, 2), target[:, 1:], ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
