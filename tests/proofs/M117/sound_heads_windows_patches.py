import torch
import torch.nn.functional as F
from torch import nn


class Window(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.qkv, self.proj, self.out = (
            nn.Conv2d(3, 16, 2, 2),
            nn.Linear(16, 48),
            nn.Linear(16, 16),
            nn.Linear(16, 4),
        )

    def forward(self, image):
        x = self.patch(image).flatten(2).transpose(1, 2)
        b, n, c = x.shape
        x = x.view(b, 8, 8, c)
        w = x.view(b, 2, 4, 2, 4, c).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, 16, c)
        q, k, v = self.qkv(w).reshape(w.shape[0], 16, 3, 4, 4).permute(2, 0, 3, 1, 4)
        w = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(-1, 16, c)
        x = self.proj(w).view(b, 2, 2, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(b, 64, c)
        return self.out(x.mean(1))


torch.manual_seed(0)
net = Window()
optimizer = torch.optim.Adam(net.parameters())
for step in range(6):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(torch.randn(4, 3, 16, 16)), torch.randint(0, 4, (4,))).backward()
    optimizer.step()
