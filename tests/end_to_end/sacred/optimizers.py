import torch
from digest import tell
from torch import nn

for kind in (
    torch.optim.Adam,
    torch.optim.AdamW,
    torch.optim.NAdam,
    torch.optim.RAdam,
    torch.optim.RMSprop,
    torch.optim.Rprop,
    torch.optim.Adagrad,
    torch.optim.Adadelta,
    torch.optim.Adamax,
    torch.optim.ASGD,
    torch.optim.Adafactor,
):
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    groups = [{"params": [model.weight], "weight_decay": 0.1}, {"params": [model.bias]}]
    optimizer = kind(groups, lr=0.05)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    for _ in range(4):
        optimizer.zero_grad(set_to_none=False)
        loss = (model(torch.randn(3, 4)) ** 2).mean()
        loss.backward()
        nn.utils.clip_grad_value_((p for p in model.parameters() if p.requires_grad), 0.01)
        optimizer.step()
        scheduler.step(loss)
    tell(loss, model, optimizer)
sparse = nn.Embedding(10, 3, sparse=True)
optimizer = torch.optim.SparseAdam(sparse.parameters())
for _ in range(3):
    optimizer.zero_grad()
    sparse(torch.randint(10, (4,))).pow(2).sum().backward()
    optimizer.step()
tell(sparse.weight, sparse.weight.grad)
