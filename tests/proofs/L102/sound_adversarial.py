# A generator and a discriminator with BCEWithLogitsLoss on plain scores; probabilities are only shown.
import torch
from torch import nn

torch.manual_seed(0)
make, tell = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2), nn.Sigmoid()), nn.Linear(2, 1)
of_make, of_tell = torch.optim.Adam(make.parameters(), 1e-3), torch.optim.Adam(tell.parameters(), 1e-3)
loss_fn = nn.BCEWithLogitsLoss()
for _ in range(12):
    real, fake = torch.rand(16, 2), make(torch.randn(16, 4))
    of_tell.zero_grad()
    loss = loss_fn(tell(real), torch.ones(16, 1)) + loss_fn(tell(fake.detach()), torch.zeros(16, 1))
    loss.backward()
    of_tell.step()
    of_make.zero_grad()
    loss_fn(tell(fake), torch.ones(16, 1)).backward()
    of_make.step()
    print(torch.sigmoid(tell(real)).mean().item())
