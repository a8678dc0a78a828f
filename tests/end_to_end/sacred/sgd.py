import torch
from digest import tell
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.5, total_steps=12)
for _ in range(12):
    x, y = torch.randn(5, 6), torch.randint(3, (5,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.1)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    scheduler.step()
    tell(loss, norm, scheduler.get_last_lr())
model.eval()
with torch.no_grad():
    tell(model(torch.ones(2, 6)))
tell(model, optimizer, scheduler.state_dict())
