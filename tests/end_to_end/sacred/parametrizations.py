import torch
from digest import tell
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune

torch.manual_seed(0)


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


model = nn.Sequential(
    nn.Linear(4, 4),
    parametrizations.weight_norm(nn.Linear(4, 4)),
    parametrizations.spectral_norm(nn.Linear(4, 4)),
    nn.utils.spectral_norm(nn.Linear(4, 4)),
    parametrizations.orthogonal(nn.Linear(4, 4)),
    prune.l1_unstructured(nn.Linear(4, 4), "weight", 0.3),
)
parametrize.register_parametrization(model[0], "weight", Symmetric())
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(5):
    with parametrize.cached():
        loss = model(torch.randn(3, 4)).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    tell(loss)
parametrize.remove_parametrizations(model[0], "weight")
prune.remove(model[5], "weight")
tell(model.eval(), optimizer, model(torch.ones(1, 4)), list(model.state_dict()))
