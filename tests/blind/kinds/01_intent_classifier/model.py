import torch.nn as nn


class IntentClassifier(nn.Module):
    def __init__(self, vocab: int, classes: int, dim: int = 32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, classes))
        self.activation = nn.Softmax(dim=-1)

    def forward(self, tokens):
        _, last = self.gru(self.embed(tokens))
        return self.activation(self.head(last[0]))
