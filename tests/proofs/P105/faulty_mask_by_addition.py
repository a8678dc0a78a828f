# (1 - mask) * -1e9 is minus infinity in float16; rows without any key become NaN, and the scaler skips those steps.
# line: 14
import torch
from torch import nn


class Scores(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.query, self.key, self.out = (nn.Linear(dim, dim) for _ in range(3))

    def forward(self, x, mask):
        score = self.query(x) @ self.key(x).mT
        bias = (1.0 - mask.to(score.dtype)) * -1e9
        return self.out((score + bias[:, None]).softmax(-1) @ x.to(score.dtype))


torch.manual_seed(0)
model = Scores()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for step in range(40):
    x, mask = torch.randn(4, 6, 8), torch.rand(4, 6) > 0.2
    if step % 3 == 2:
        mask[1] = False
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = model(x, mask).float().pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
