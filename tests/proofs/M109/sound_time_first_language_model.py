import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
text = torch.randint(0, 20, (8 * 65,)).view(8, -1).t().contiguous()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.head = nn.Embedding(20, 16), nn.LSTM(16, 16), nn.Linear(16, 20)

    def forward(self, ids, state):
        out, state = self.rnn(self.embed(ids), state)
        return self.head(out).view(-1, 20), state


model = Model()
opt = torch.optim.SGD(model.parameters(), 0.5)
state = (torch.zeros(1, 8, 16), torch.zeros(1, 8, 16))
for i in range(0, 60, 6):
    data, target = text[i : i + 6], text[i + 1 : i + 7].reshape(-1)
    state = tuple(s.detach() for s in state)
    out, state = model(data, state)
    loss = F.cross_entropy(out, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
