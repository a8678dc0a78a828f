# line: 25
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence


def batch(n=8):
    lengths = torch.randint(3, 12, (n,)).tolist()
    ids = pad_sequence([torch.randint(1, 20, (k,)) for k in lengths], batch_first=True)
    return ids, torch.tensor(lengths), torch.randint(0, 3, (n,))


class Translator(nn.Module):
    """The source is masked in the encoder, and not where the decoder reads it."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(20, 16, padding_idx=0), nn.Linear(16, 20)
        self.net = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        hidden = source == 0
        h = self.net(
            self.embed(source), self.embed(target), tgt_mask=mask, src_key_padding_mask=hidden, tgt_is_causal=True
        )
        return self.head(h)


torch.manual_seed(0)
model = Translator()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    source = batch()[0]
    target = torch.randint(1, 20, (8, 16))
    loss = F.cross_entropy(model(source, target[:, :-1]).flatten(0, 1), target[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
