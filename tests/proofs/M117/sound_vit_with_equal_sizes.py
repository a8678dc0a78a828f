import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    """Sixteen tokens of sixteen features in a batch of eight: sizes that are equal by chance."""

    def __init__(self):
        super().__init__()
        self.lift, self.qkv, self.head = nn.Linear(48, 16), nn.Linear(16, 48), nn.Linear(16, 3)

    def forward(self, x):
        B = len(x)
        x = x.reshape(B, 3, 4, 4, 4, 4).permute(0, 2, 4, 3, 5, 1).reshape(B, 16, 48)
        h = self.lift(x)
        q, k, v = self.qkv(h).view(B, 16, 3, 4, 4).permute(2, 0, 3, 1, 4)
        h = h + F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, 16, 16)
        return self.head(h.mean(1))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 3, 16, 16), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
