# Plain values, allowed classes, a file of one's own, a refusal that is handled.
import argparse

import torch

torch.save({"w": torch.zeros(2), "epoch": 3, "name": "a"}, "plain.pt")
torch.load("plain.pt")
torch.save({"args": argparse.Namespace(x=1)}, "args.pt")
try:
    torch.load("args.pt")
except Exception:
    torch.load("args.pt", weights_only=False)
with torch.serialization.safe_globals([argparse.Namespace]):
    torch.load("args.pt")
