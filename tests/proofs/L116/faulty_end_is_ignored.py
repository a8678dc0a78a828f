# The last letter of each word has the number of the padding, which the loss ignores.
# line: 33
import torch
from torch import nn
from torch.nn.functional import log_softmax, nll_loss
from torch.nn.utils.rnn import pad_sequence

STOP = 0


def word():
    letters = torch.randint(1, 27, (int(torch.randint(2, 9, ())),))
    return torch.cat((letters, torch.tensor([STOP])))


class Speller(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters, self.read, self.out = nn.Embedding(27, 10), nn.LSTM(10, 20), nn.Linear(20, 27)

    def forward(self, text):
        states, _ = self.read(self.letters(text))
        return log_softmax(self.out(states), dim=-1)


torch.manual_seed(0)
speller = Speller()
optimizer = torch.optim.Adam(speller.parameters(), lr=1e-3)
for _ in range(10):
    text = pad_sequence([word() for _ in range(16)], padding_value=STOP)
    told = speller(text[:-1])
    optimizer.zero_grad()
    loss = nll_loss(told.flatten(0, 1), text[1:].flatten(), ignore_index=STOP)
    loss.backward()
    optimizer.step()
