"""Processes that train one model in shared memory, one after the other so that the result is known."""

import os
import sys

import torch
import torch.multiprocessing as mp
from digest import digest, tell
from torch import nn


def work(model, optimizer, seed):
    torch.manual_seed(seed)
    for _ in range(5):
        optimizer.zero_grad(set_to_none=False)
        loss = nn.functional.mse_loss(model(torch.randn(4, 3)), torch.zeros(4, 2))
        loss.backward()
        optimizer.step()
    print(digest(loss), flush=True)


torch.manual_seed(0)
model = nn.Linear(3, 2).share_memory()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for seed in range(2):
    process = mp.get_context("fork").Process(target=work, args=(model, optimizer, seed))
    process.start()
    process.join()
    tell(process.exitcode, model)
work(model, optimizer, 7)
child = os.fork()
if child == 0:
    work(nn.Linear(3, 2), torch.optim.Adam(model.parameters()), 8)
    sys.exit(6)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
tell(model)
