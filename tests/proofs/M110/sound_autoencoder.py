import torch
import torch.nn as nn
import torch.nn.functional as F


class Autoencoder(nn.Module):
    """Gives its input back through a narrow code; the decoder reads what it wrote before."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(25, 16), nn.Linear(16, 25)
        self.encoder, self.decoder = nn.GRU(16, 8, batch_first=True), nn.GRU(24, 16, batch_first=True)

    def forward(self, ids):
        code = self.encoder(self.embed(ids))[1][0]
        before = F.pad(self.embed(ids)[:, :-1], (0, 0, 1, 0))
        out, _ = self.decoder(torch.cat([before, code.unsqueeze(1).expand(-1, ids.shape[1], -1)], -1))
        return self.head(out)


torch.manual_seed(0)
model = Autoencoder()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids = torch.randint(0, 25, (6, 12))
    loss = F.cross_entropy(model(ids).transpose(1, 2), ids)
    opt.zero_grad()
    loss.backward()
    opt.step()
