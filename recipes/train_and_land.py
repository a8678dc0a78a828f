"""Train a small network as it should be done, from the data to a checkpoint that a killed run can go on from.

One file, read from top to bottom. The data are scikit-learn's digits: 1,797 grey images of 8 x 8 pixels, 10 classes.

    python recipes/train_and_land.py                     # train, and test the best epoch
    python recipes/train_and_land.py --resume            # go on after an interruption, to the same weights bit for bit
    torchcaliper run recipes/train_and_land.py           # the same under watch
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset[tuple[Tensor, int]]):
    """Normalised images (1, 8, 8), float32, and their classes; in training moved by up to one pixel."""

    def __init__(self, images: Tensor, labels: Tensor, mean: Tensor, std: Tensor, augment: bool = False) -> None:
        self.images = ((images - mean) / std).unsqueeze(1)
        self.labels = labels
        self.augment = augment

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        image = self.images[index]
        if self.augment:
            # torch seeds its own, Python's and NumPy's global generators in every worker, anew in each epoch. A
            # generator of one's own (numpy.random.default_rng) would be the same in all of them: seed it in the worker.
            down, right = torch.randint(0, 3, (2,)).tolist()
            image = F.pad(image, (1, 1, 1, 1), mode="replicate")[:, down : down + 8, right : right + 8]
        return image, int(self.labels[index])


class Net(nn.Module):
    """Two convolutions and a linear layer: images (N, 1, 8, 8) -> logits (N, 10)."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1, bias=False),  # the normalisation that follows has a bias of its own
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, padding=1, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.25), nn.Linear(64 * 4 * 4, 10))

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.features(images))  # logits: cross entropy takes the softmax itself


def datasets(seed: int) -> tuple[Digits, Digits, Digits]:
    """Training, validation and test set: 70, 15 and 15 %, disjoint, the same for the same seed."""
    pixels, classes = load_digits(return_X_y=True)
    images, labels = torch.tensor(pixels, dtype=torch.float32).view(-1, 8, 8), torch.tensor(classes)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    train, validation, test = order.split([len(order) - 2 * (len(order) * 15 // 100), *[len(order) * 15 // 100] * 2])
    # Mean and scale are fitted like weights, so the training part alone may have a say in them.
    mean, std = images[train].mean(), images[train].std()
    return (
        Digits(images[train], labels[train], mean, std, augment=True),
        Digits(images[validation], labels[validation], mean, std),
        Digits(images[test], labels[test], mean, std),
    )


def decay_groups(model: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Weight decay for matrices and kernels; none for biases and the scales of normalisation layers."""
    parameters = list(model.parameters())
    return [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader[Any], device: torch.device) -> tuple[float, float]:
    """Mean loss and accuracy per sample, in full precision."""
    was_training = model.training
    model.eval()
    loss, correct, samples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    for images, labels in loader:
        images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        logits = model(images)
        # Sums, divided once: a mean of batch means would give the samples of a small last batch more weight.
        loss += F.cross_entropy(logits, labels, reduction="sum")
        correct += (logits.argmax(dim=1) == labels).sum()
        samples += len(labels)
    model.train(was_training)
    return loss.item() / samples, correct.item() / samples


def save(state: dict[str, Any], path: Path) -> None:
    """Write a file whole or not at all: whenever the process dies, the old file or the new one is there."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())  # the bytes are on the disk before the name points to them
    os.replace(temporary, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=3e-3, help="highest learning rate of the one-cycle schedule")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--checkpoint", type=Path, default=Path(__file__).parent / "checkpoints" / "digits.pt")
    parser.add_argument("--resume", action="store_true", help="go on from --checkpoint, with the options it began with")
    parser.add_argument("--workers", type=int, default=0, help="processes that load data (0: none, best for tiny data)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    # Before anything is drawn. On a GPU the same bits also take torch.use_deterministic_algorithms(True).
    torch.manual_seed(args.seed)
    device = torch.device(args.device)

    train_set, validation_set, test_set = datasets(args.seed)
    order = torch.Generator().manual_seed(args.seed)  # draws the order and the workers' seeds, and nothing else
    feeding: dict[str, Any] = {"num_workers": args.workers, "pin_memory": device.type == "cuda"}
    # drop_last: a last batch of one or two samples would give BatchNorm a poor mean and variance.
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True, drop_last=True, generator=order, **feeding)
    validation_loader = DataLoader(validation_set, 256, **feeding)
    test_loader = DataLoader(test_set, 256, **feeding)

    model = Net().to(device)  # on its device before the optimizer is made
    optimizer = torch.optim.AdamW(decay_groups(model, decay=0.05), lr=args.lr)
    steps = args.epochs * len(train_loader)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=args.lr, total_steps=steps)
    # float16 has too few exponent bits for small gradients: they are scaled. bfloat16 has float32's range: no scaler.
    half = torch.float16 if device.type == "cuda" else torch.bfloat16
    scaler = torch.amp.GradScaler(device.type, enabled=half is torch.float16)

    best_path = args.checkpoint.with_name(f"{args.checkpoint.stem}-best{args.checkpoint.suffix}")
    first_epoch, best_loss = 0, float("inf")
    if args.resume:
        state = torch.load(args.checkpoint, map_location="cpu", weights_only=True)
        for name, part in (("model", model), ("optimizer", optimizer), ("scheduler", scheduler), ("scaler", scaler)):
            part.load_state_dict(state[name])
        first_epoch, best_loss = state["epoch"] + 1, state["best_loss"]
        order.set_state(state["order"])
        torch.set_rng_state(state["random"])  # dropout, and augmentation without workers
        if device.type == "cuda":
            torch.cuda.set_rng_state_all(state["random_cuda"])
        print(f"resumed after epoch {state['epoch']}", flush=True)
    args.checkpoint.parent.mkdir(parents=True, exist_ok=True)

    for epoch in range(first_epoch, args.epochs):
        model.train()
        total, samples = torch.zeros((), device=device), 0
        for images, labels in train_loader:
            images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
            optimizer.zero_grad()
            with torch.autocast(device.type, dtype=half):  # forward and loss only: backward follows their types
                loss = F.cross_entropy(model(images), labels)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)  # the norm to clip at is that of the true gradients
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            scale = scaler.get_scale()
            scaler.step(optimizer)
            scaler.update()
            if scaler.get_scale() >= scale:  # lowered: the gradients overflowed and the step was skipped
                scheduler.step()
            total += loss.detach() * len(labels)  # detached, or every graph would live until the epoch ends
            samples += len(labels)

        validation_loss, accuracy = evaluate(model, validation_loader, device)
        if validation_loss < best_loss:
            best_loss = validation_loss
            save({"model": model.state_dict(), "epoch": epoch}, best_path)
        state = {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "scaler": scaler.state_dict(),
            "epoch": epoch,
            "best_loss": best_loss,
            "order": order.get_state(),
            "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state_all() if device.type == "cuda" else [],
        }
        save(state, args.checkpoint)
        print(
            f"epoch {epoch}: training loss {total.item() / samples:.4f}, "
            f"validation loss {validation_loss:.4f}, accuracy {accuracy:.2%}",
            flush=True,
        )

    best = torch.load(best_path, map_location="cpu", weights_only=True)
    model.load_state_dict(best["model"])
    test_loss, accuracy = evaluate(model, test_loader, device)  # the test set is asked once, at the very end
    print(f"test: loss {test_loss:.4f}, accuracy {accuracy:.2%} (weights of epoch {best['epoch']})")


if __name__ == "__main__":  # workers started by spawn import this file
    main()
