import torch
from model import IntentClassifier


def make(n, gen):
    tokens = torch.randint(0, 50, (n, 8), generator=gen)
    return tokens, (tokens[:, :3] % 5).sum(1) % 5


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    tokens, intents = make(1200, gen)
    model = IntentClassifier(50, 5)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(4):
        model.train()
        for idx in torch.randperm(1000).split(50):
            optimizer.zero_grad()
            loss = criterion(model(tokens[idx]), intents[idx])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            acc = (model(tokens[1000:]).argmax(1) == intents[1000:]).float().mean()
        print(f"{epoch}: {loss.item():.3f} acc {acc.item():.3f}")


if __name__ == "__main__":
    main()
