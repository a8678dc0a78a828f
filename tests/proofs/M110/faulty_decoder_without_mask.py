# line: 16
import torch
from torch import nn


class Translate(nn.Module):
    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(30, 16), nn.Embedding(30, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 1)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 2, 32, batch_first=True), 2)
        self.out = nn.Linear(16, 30)

    def forward(self, source, target):
        memory = self.encoder(self.source(source))
        return self.out(self.decoder(self.target(target), memory))


torch.manual_seed(0)
net = Translate()
optimizer = torch.optim.Adam(net.parameters())
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for step in range(8):
    source, target = torch.randint(0, 30, (6, 11)), torch.randint(0, 30, (6, 12))
    logits = net(source, target[:, :-1])
    loss = criterion(logits.reshape(-1, 30), target[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
