import torch
import torch.nn as nn
import torch.nn.functional as F


class Tagger(nn.Module):
    """One sentence at a time: words are the first axis, the batch is one."""

    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.head = nn.Embedding(30, 16), nn.LSTM(16, 16), nn.Linear(16, 5)

    def forward(self, sentence):
        out, _ = self.rnn(self.embed(sentence).view(len(sentence), 1, -1))
        return F.log_softmax(self.head(out.view(len(sentence), -1)), dim=1)


torch.manual_seed(0)
model = Tagger()
opt = torch.optim.SGD(model.parameters(), 0.1)
for length in (5, 7, 6, 5, 9, 4, 6, 8):
    loss = F.nll_loss(model(torch.randint(0, 30, (length,))), torch.randint(0, 5, (length,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
