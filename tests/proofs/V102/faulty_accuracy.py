# The accuracy of each batch is turned into a number.
# line: 19
import torch
from torch import nn


def main():
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = nn.Linear(4, 3).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    x, y = torch.randn(64, 4).to(device), torch.randint(0, 3, (64,)).to(device)
    hits = 0.0
    for idx in torch.arange(64).split(16):
        scores = model(x[idx])
        loss = nn.functional.cross_entropy(scores, y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits += float((scores.argmax(1) == y[idx]).float().mean())
    print(hits)


main()
