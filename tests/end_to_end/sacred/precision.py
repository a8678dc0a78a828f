import warnings

import torch
from digest import tell
from torch import nn

for dtype in (torch.bfloat16, torch.float16):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12, growth_interval=3)
    for step in range(8):
        x, y = torch.randn(3, 4), torch.randint(2, (3,))
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype):
            output = model(x)
            loss = nn.functional.cross_entropy(output, y)
        if step in (2, 5):
            loss = loss * float("inf")  # this step is skipped
        scaler.scale(loss).backward()
        if step % 2:
            scaler.unscale_(optimizer)
            tell(nn.utils.clip_grad_norm_(model.parameters(), 1.0))
        result = scaler.step(optimizer)
        scaler.update()
        scheduler.step()
        tell(output, loss, result, scaler.state_dict(), scheduler.get_last_lr())
    tell(model, optimizer)
try:
    scaler.unscale_(optimizer)
    scaler.unscale_(optimizer)
except RuntimeError as error:
    print(error)
warnings.simplefilter("always")
with torch.autocast("cpu", enabled=False):
    tell(model(torch.ones(1, 4)))
tell(model.bfloat16()(torch.ones(1, 4, dtype=torch.bfloat16)))
