import contextlib

import torch
from digest import tell
from torch import nn
from torch.nn import functional as F

# gradients that are kept, and hooks of every kind in the graph: they hear of the program's own backwards only
heard = []


class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.embed, self.head, self.kind = nn.Embedding(20, 16), nn.Linear(16, 3), kind
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)

    def forward(self, ids):
        h = self.layer(self.embed(ids))
        if self.kind == "retain":
            h.retain_grad()
            self.kept = h
        elif self.kind == "node":
            h.grad_fn.register_hook(lambda given, got: heard.append(float(got[0].sum())))
        elif self.kind == "before node":
            h.grad_fn.register_prehook(lambda got: heard.append(float(got[0].sum())))
        elif self.kind == "tensor":
            h.register_hook(lambda got: heard.append(float(got.sum())))
        elif self.kind == "several":
            torch.autograd.graph.register_multi_grad_hook([h], lambda got: heard.append(float(got[0].sum())))
        return self.head(h.mean(1))


def unpack(tensor):
    heard.append(tensor.numel())
    return tensor


for kind in ("none", "retain", "node", "before node", "tensor", "several", "saved"):
    torch.manual_seed(0)
    model = Net(kind)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(6):
        ids, labels = torch.randint(0, 20, (7, 9)), torch.randint(0, 3, (7,))
        saved = kind == "saved"
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack) if saved else contextlib.nullcontext():
            logits = model(ids)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        if kind == "retain":
            heard.append(float(model.kept.grad.abs().sum()))
        optimizer.step()
    tell(model, len(heard), torch.tensor(heard, dtype=torch.float64))
