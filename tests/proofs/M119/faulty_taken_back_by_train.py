# A frozen part is put in evaluation mode once, and train() of the whole takes it back.
# line: 10
import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU())
for p in backbone.parameters():
    p.requires_grad = False
backbone.eval()
model = nn.Sequential(backbone, nn.Linear(12, 2))
opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for epoch in range(5):
    model.train()
    for step in range(4):
        x = torch.randn(32, 6)
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long()).backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        model(x)
