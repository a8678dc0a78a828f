import asyncio
import threading

import torch
from digest import digest, tell
from torch import nn


def train(seed, steps=30):
    generator = torch.Generator().manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    for parameter in model.parameters():
        nn.init.normal_(parameter, generator=generator)
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(torch.randn(4, 3, generator=generator)), torch.zeros(4, 1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    results[seed] = digest([model, optimizer])


results = {}
alone = threading.Thread(target=train, args=(0,))
alone.start()
alone.join()
together = [threading.Thread(target=train, args=(seed,)) for seed in range(1, 5)]
for thread in together:
    thread.start()
for thread in together:
    thread.join()
print(sorted(results.items()))


async def learn(seed):
    generator = torch.Generator().manual_seed(seed)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        loss = model(torch.randn(2, 3, generator=generator)).sum()
        await asyncio.sleep(0)
        loss.backward()
        await asyncio.to_thread(optimizer.step)
    return digest(model)


async def main():
    torch.manual_seed(0)
    print(await asyncio.gather(learn(1), learn(2), asyncio.to_thread(lambda: len(results))))


asyncio.run(main())
tell(torch.get_num_threads())
last = threading.Thread(target=train, args=(9, 100))
last.start()
# The main thread ends while that one trains.
