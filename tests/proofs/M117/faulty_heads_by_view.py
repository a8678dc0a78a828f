# line: 15
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.head = nn.Embedding(20, 32), nn.Linear(32, 96), nn.Linear(32, 3)

    def forward(self, ids):
        B, T = ids.shape
        q, k, v = (t.contiguous().view(B, 4, T, 8) for t in self.qkv(self.embed(ids)).chunk(3, -1))
        h = F.scaled_dot_product_attention(q, k, v)
        return self.head(h.transpose(1, 2).reshape(B, T, 32).mean(1))


torch.manual_seed(0)
loader = DataLoader(
    TensorDataset(torch.randint(0, 20, (64, 10)), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True
)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
