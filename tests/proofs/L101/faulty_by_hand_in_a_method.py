# Probabilities are computed by hand in predict(), which training uses as well.
# line: 18
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(30, 16), nn.Linear(16, 7)

    def predict(self, words):
        scores = self.out(self.embed(words))
        powers = (scores - scores.max(-1, keepdim=True).values).exp()
        return powers / powers.sum(-1, keepdim=True)

    def forward(self, words):
        return self.predict(words)


tagger = Tagger()
sgd = torch.optim.SGD(tagger.parameters(), lr=0.5)
for _ in range(15):
    words = torch.randint(30, (8, 6))
    loss = F.cross_entropy(tagger(words).flatten(0, 1), (words % 7).flatten())
    sgd.zero_grad()
    loss.backward()
    sgd.step()
