# Source and target have their padding masks; the decoder's view of the source has none.
# line: 25
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


def texts(count):
    return pad_sequence([torch.randint(2, 24, (n,)) for n in torch.randint(3, 12, (count,)).tolist()], True)


class Seq2Seq(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.source = nn.Embedding(vocabulary, width, padding_idx=0)
        self.target = nn.Embedding(vocabulary, width, padding_idx=0)
        self.core = nn.Transformer(width, 4, 1, 1, 2 * width, 0.0, batch_first=True)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, source, target):
        future = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
        no_source, no_target = source.eq(0), target.eq(0)
        masks = dict(src_key_padding_mask=no_source, tgt_key_padding_mask=no_target, tgt_mask=future)
        a, b = self.source(source), self.target(target)
        return self.out(self.core(a, b, **masks))


torch.manual_seed(0)
net = Seq2Seq(24, 16)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss(ignore_index=0)
for _ in range(8):
    source, target = texts(10), texts(10)
    optimizer.zero_grad()
    criterion(net(source, target[:, :-1]).transpose(1, 2), target[:, 1:]).backward()
    optimizer.step()
