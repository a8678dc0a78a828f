import torch
from torch import nn
import torch.nn.functional as F


class SoftMoE(nn.Module):
    """Slots gather tokens (softmax over tokens), tokens gather slots (softmax over slots)."""

    def __init__(self, dim=16, slots=4):
        super().__init__()
        self.phi = nn.Parameter(torch.randn(dim, slots) * dim**-0.5)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(slots))

    def forward(self, tokens):
        logits = tokens @ self.phi
        dispatch, combine = logits.softmax(dim=1), logits.softmax(dim=2)
        slots = dispatch.transpose(1, 2) @ tokens
        out = torch.stack([e(slots[:, i]) for i, e in enumerate(self.experts)], dim=1)
        return combine @ out


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.moe, self.norm, self.head = SoftMoE(), nn.LayerNorm(16), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.norm(x + self.moe(x)).mean(1))


torch.manual_seed(0)
x = torch.randn(600, 9, 16)
y = x.mean(1)[:, :3].argmax(1)
model = Model()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for i in torch.randperm(600).split(30):
        loss = F.cross_entropy(model(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())
