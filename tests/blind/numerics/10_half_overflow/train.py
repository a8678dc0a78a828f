import torch
from torch import nn


class Cosine(nn.Module):
    """Scores by cosine similarity to learned prototypes."""

    def __init__(self, d, classes):
        super().__init__()
        self.project = nn.Linear(d, 64)
        self.prototypes = nn.Linear(64, classes, bias=False)

    def forward(self, x):
        h = self.project(x) * 40
        norm = (h * h).sum(1, keepdim=True)
        return self.prototypes(h / norm.sqrt()) * 10


torch.manual_seed(0)
x = 4 * torch.randn(512, 16)
y = x[:, :4].argmax(1)
model = Cosine(16, 4)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(60):
    i = torch.randint(0, 512, (32,))
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
