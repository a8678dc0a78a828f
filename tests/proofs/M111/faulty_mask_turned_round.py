# line: 15
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 24)
        layer = nn.TransformerEncoderLayer(24, 4, 48, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(24, 3)

    def forward(self, ids, attention_mask):
        h = self.encoder(self.embed(ids), src_key_padding_mask=attention_mask.bool())
        keep = attention_mask.unsqueeze(-1).float()
        return self.out((h * keep).sum(1) / keep.sum(1))


torch.manual_seed(0)
net = Classifier()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(8):
    lengths = torch.tensor([4, 9, 12, 7, 11, 5])
    mask = (torch.arange(13)[None] < lengths[:, None]).long()
    ids = torch.randint(1, 40, (6, 13)) * mask
    loss = nn.functional.cross_entropy(net(ids, mask), torch.randint(0, 3, (6,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
