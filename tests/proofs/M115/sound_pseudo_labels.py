# FixMatch: pseudo-labels under no_grad at every step, in training mode, from a loader of their own.
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
labelled = DataLoader(TensorDataset(torch.randn(64, 6), torch.randint(0, 3, (64,))), batch_size=16, shuffle=True)
unlabelled = DataLoader(TensorDataset(torch.randn(128, 6)), batch_size=32, shuffle=True)
test_x, test_y = torch.randn(40, 6), torch.randint(0, 3, (40,))
model = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    model.train()
    for (x, y), (u,) in zip(labelled, unlabelled):
        with torch.no_grad():
            confidence, pseudo = model(u).softmax(dim=1).max(dim=1)
        strong = model(u + 0.1 * torch.randn_like(u))
        mask = (confidence > 0.4).float()
        loss = F.cross_entropy(model(x), y) + (F.cross_entropy(strong, pseudo, reduction="none") * mask).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, F.cross_entropy(model(test_x), test_y).item())
