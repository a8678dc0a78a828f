import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class SelfAttention(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).reshape(b, t, c))


class Profile(nn.Module):
    def __init__(self, items=25, dim=24):
        super().__init__()
        self.items = nn.Embedding(items, dim, padding_idx=0)
        self.attention = SelfAttention(dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, history, lengths):
        h = self.items(history)
        h = h + self.attention(h)
        mask = (torch.arange(history.size(1)) < lengths[:, None]).float()
        pooled = (h * mask[:, :, None]).sum(1) / lengths[:, None]
        return self.out(pooled).squeeze(1)


def users(n):
    history = [torch.randint(1, 25, (int(k),)) for k in torch.randint(3, 16, (n,))]
    target = torch.stack([(h < 8).float().mean() for h in history])
    return pad_sequence(history, batch_first=True), torch.tensor([len(h) for h in history]), target


torch.manual_seed(0)
history, lengths, target = users(640)
model = Profile()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(3):
    for i in torch.randperm(640).split(32):
        loss = F.mse_loss(model(history[i], lengths[i]), target[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
