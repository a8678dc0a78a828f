import torch


@torch.no_grad()
def accuracy(model, x, y, batch=64):
    model.eval()
    hits = 0
    for a, b in zip(x.split(batch), y.split(batch)):
        scores = model(a)
        hits += (torch.argmax(scores) == b).sum().item()
    model.train()
    return hits / len(y)
