# line: 8, 9, 15
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
embed = nn.Linear(6, 16)
layer = nn.TransformerEncoderLayer(d_model=16, nhead=2, dim_feedforward=32, dropout=0.0)
encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
head = nn.Linear(16, 5)
parameters = [p for m in (embed, encoder, head) for p in m.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=1e-3)
data = TensorDataset(torch.randn(240, 11, 6), torch.randint(0, 5, (240,)))
for x, y in DataLoader(data, batch_size=24, shuffle=True):
    h = encoder(embed(x))
    loss = nn.functional.cross_entropy(head(h[:, 0]), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
