import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader


def collate(items):
    items = sorted(items, key=lambda item: -len(item[0]))
    lengths = torch.tensor([len(ids) for ids, _ in items])
    return pad_sequence([ids for ids, _ in items]), lengths, pad_sequence([tags for _, tags in items])


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(30, 16, padding_idx=0), nn.Linear(32, 5)
        self.rnn = nn.LSTM(16, 16, bidirectional=True)

    def forward(self, ids, lengths):
        out, _ = self.rnn(pack_padded_sequence(self.embed(ids), lengths))
        return self.head(pad_packed_sequence(out)[0])


torch.manual_seed(0)
data = [(torch.randint(1, 30, (n,)), torch.randint(0, 5, (n,))) for n in torch.randint(5, 14, (96,)).tolist()]
model = Tagger()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for ids, lengths, tags in DataLoader(data, batch_size=12, shuffle=True, collate_fn=collate):
    loss = F.cross_entropy(model(ids, lengths).flatten(0, 1), tags.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
