import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 6), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    both = torch.cat([x, torch.randn_like(x)])
    labels = torch.cat([torch.ones(8, 1), torch.zeros(8, 1)])
    loss = F.binary_cross_entropy_with_logits(model(both), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
