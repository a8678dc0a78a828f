# The probabilities of a mixture's parts sum to one over the samples.
# line: 13
# also: L101
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

x = torch.randn(96, 5)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=12)
gate, parts = nn.Sequential(nn.Linear(5, 4), nn.Softmax(dim=0)), nn.Linear(5, 4)
both = nn.ModuleList([gate, parts])
optimizer = torch.optim.Adam(both.parameters(), lr=1e-2)
for _ in range(3):
    for inputs, target in loader:
        guess = (gate(inputs) * parts(inputs)).sum(1, keepdim=True)
        optimizer.zero_grad()
        F.mse_loss(guess, target).backward()
        optimizer.step()
