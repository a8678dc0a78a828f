# Clipped without unscaling after accumulated batches.
# line: 15
import torch
from torch import nn


def train(model, batches, accumulate):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)
    for i, (x, y) in enumerate(batches):
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(x), y) / accumulate
        scaler.scale(loss).backward()
        if (i + 1) % accumulate == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    return loss.item()


torch.manual_seed(0)
batches = [(torch.randn(8, 4), torch.randint(0, 3, (8,))) for _ in range(48)]
print(train(nn.Linear(4, 3), batches, 4))
