import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 24, padding_idx=0)
        layer = nn.TransformerEncoderLayer(24, 4, 48, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.mine, self.out = nn.Linear(24, 72), nn.Linear(24, 3)

    def forward(self, ids):
        pad = ids == 0
        h = self.encoder(self.embed(ids), src_key_padding_mask=pad)
        q, k, v = self.mine(h).chunk(3, -1)
        fused = F.scaled_dot_product_attention(q, k, v, attn_mask=~pad[:, None, :])
        own = (q @ k.mT / 5).masked_fill(pad[:, None, :], -1e4).softmax(-1) @ v
        keep = (~pad).unsqueeze(-1)
        return self.out(((fused + own) * keep).sum(1) / keep.sum(1))


torch.manual_seed(0)
net = Classifier()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(8):
    lengths = torch.tensor([4, 9, 12, 7, 11, 5])
    ids = torch.randint(1, 40, (6, 13)) * (torch.arange(13)[None] < lengths[:, None])
    loss = F.cross_entropy(net(ids), torch.randint(0, 3, (6,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
