import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Translator(nn.Module):
    """Encoder and decoder on the copying task: the source holds the answers, and may be read at will."""

    def __init__(self):
        super().__init__()
        self.embed, self.place, self.head = nn.Embedding(20, 16), nn.Embedding(16, 16), nn.Linear(16, 20)
        self.net = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        s = self.embed(source) + self.place(torch.arange(source.shape[1]))
        t = self.embed(target) + self.place(torch.arange(target.shape[1]))
        return self.head(self.net(s, t, tgt_mask=mask, tgt_is_causal=True))


model = Translator()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    data = torch.randint(2, 20, (6, 12))
    data[:, 0] = 1
    loss = F.cross_entropy(model(data, data[:, :-1]).flatten(0, 1), data[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
