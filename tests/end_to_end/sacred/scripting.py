import io

import torch
from digest import tell
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x, y):
        h = F.dropout(F.relu(self.norm(self.hidden(x))), 0.2, self.training)
        h = F.alpha_dropout(h, 0.1, self.training)
        return self.criterion(self.out(h), y) + F.cross_entropy(self.out(h), y)

    @torch.jit.export
    def predict(self, x):
        return F.softmax(self.out(F.relu(self.hidden(x))), dim=1)


@torch.jit.script
def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(x, y) + F.smooth_l1_loss(x, y) + F.binary_cross_entropy_with_logits(x, y)


class Old(torch.jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 3))

    @torch.jit.script_method
    def forward(self, x):
        return F.l1_loss(F.dropout(x @ self.weight, 0.5, True), x)


@torch.jit.script_if_tracing
def branching(x: torch.Tensor) -> torch.Tensor:
    if bool(x.sum() > 0):
        return F.dropout(x, 0.5, True)
    return F.kl_div(x, x)


def attention(q: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, q, q, dropout_p=0.1)


torch.manual_seed(0)
plain = Net()
model = torch.jit.script(plain)
print(model.code, loss_of.code, torch.jit.script(attention).code)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(4):
    optimizer.zero_grad()
    loss = model(torch.randn(6, 4), torch.randint(3, (6,)))
    loss.backward()
    torch.jit.script(F.mse_loss)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    tell(loss, loss_of(torch.rand(3), torch.rand(3)))
model.eval()
tell(model.predict(torch.randn(2, 4)), dict(model.state_dict()))
old = Old()
old(torch.randn(2, 3)).backward()
tell(old.weight.grad)
print(old.code)
saved = io.BytesIO()
torch.jit.save(model, saved)
saved.seek(0)
tell(torch.jit.load(saved).predict(torch.ones(1, 4)))
tell(branching(torch.ones(3)))
print(torch.jit.trace(lambda x: branching(x) * 2, torch.ones(3)).code)
frozen = torch.jit.freeze(torch.jit.script(Net().eval()), preserved_attrs=["predict"])
tell(frozen.predict(torch.ones(1, 4)))
