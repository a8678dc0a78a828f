import random

import numpy
import torch
from digest import tell
from torch import nn
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    TensorDataset,
    WeightedRandomSampler,
    get_worker_info,
    random_split,
)


class Inside(Dataset):
    """What a worker sees of torch: its own functions and no mode."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        functions = (nn.Module.__call__, nn.functional.cross_entropy)
        return [function.__code__.co_filename for function in functions], torch._C._len_torch_function_stack()


class Stream(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        for index in range(4):
            yield (
                torch.tensor([worker.id if worker else -1, index]),
                torch.rand(1),
                random.random(),
                numpy.random.rand(),
            )


torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.randn(20, 3), torch.randint(2, (20,)))
train, held_out = random_split(data, [16, 4])
for options in (
    {"shuffle": True},
    {"sampler": WeightedRandomSampler([0.1] * 16, 16)},
    {"shuffle": True, "num_workers": 2, "persistent_workers": True},
    {"shuffle": True, "num_workers": 1, "prefetch_factor": 4},
):
    loader = DataLoader(train, batch_size=5, drop_last=True, **options)
    print(len(loader))
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            tell(loss)
        if "num_workers" in options:
            next(iter(loader))
    del loader
model(torch.ones(1, 3))  # a look begins here
for _ in range(2):
    print(list(DataLoader(Inside(), num_workers=1)))
for batch in DataLoader(Stream(), batch_size=2, num_workers=2):
    tell(batch)
iterator = iter(DataLoader(held_out))
print(next(iterator)[1].shape, len(iterator), sum(1 for _ in iterator), next(iterator, "over"))
tell(model)
