# The caller hands in the old state with its graph; the module detaches it before use.
import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.RNN(2, 6, batch_first=True), nn.Linear(6, 2)

    def forward(self, x, state=None):
        state = None if state is None else state.detach()
        out, state = self.rnn(x, state)
        return self.head(out), state


torch.manual_seed(0)
reader, state = Reader(), None
optimizer = torch.optim.Adam(reader.parameters(), lr=1e-2)
series = torch.randn(1, 400, 2).cumsum(1) * 0.1
for start in range(0, 380, 10):
    out, state = reader(series[:, start : start + 10], state)
    loss = nn.functional.mse_loss(out, series[:, start + 1 : start + 11])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
