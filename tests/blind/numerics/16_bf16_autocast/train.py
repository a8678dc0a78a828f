import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 6))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
x = torch.randn(640, 16)
y = x[:, :6].argmax(1)
for step in range(80):
    i = torch.randint(0, 640, (32,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = net(x[i])
    loss = nn.functional.cross_entropy(logits.float(), y[i])
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
print(loss.item())
