import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def collate(items):
    return pad_sequence([x for x, _ in items]), pad_sequence([y for _, y in items], padding_value=-100)


class Tags(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.out = nn.Embedding(30, 8), nn.LSTM(8, 10), nn.Linear(10, 6)

    def forward(self, words):
        return self.out(self.lstm(self.embed(words))[0])


torch.manual_seed(0)
items = [(torch.randint(0, 30, (n,)), torch.randint(0, 6, (n,))) for n in torch.randint(5, 14, (160,)).tolist()]
net = Tags()
optimizer = torch.optim.Adam(net.parameters())
for words, tags in DataLoader(items, 16, shuffle=True, collate_fn=collate):
    loss = nn.functional.cross_entropy(net(words).view(-1, 6), tags.view(-1), ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
