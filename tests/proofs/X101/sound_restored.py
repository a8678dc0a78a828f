# A function puts the network into evaluation mode for the export and back.
import torch
from torch import nn


def export(model, example):
    was = model.training
    model.eval()
    exported = torch.jit.trace(model, example)
    model.train(was)
    return exported


model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2))
export(model, torch.randn(2, 4))
