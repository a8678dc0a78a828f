# The prefix is stripped; loaded into the wrapper itself; checked; asserted.
import torch
from torch import nn

torch.manual_seed(0)
trained = nn.DataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
state = trained.state_dict()
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
model.load_state_dict({k.removeprefix("module."): v for k, v in state.items()}, strict=False)
nn.DataParallel(model).load_state_dict(state)
result = model.load_state_dict(state, strict=False)
if result.missing_keys:
    model.load_state_dict({k[7:]: v for k, v in state.items()})
assert not nn.DataParallel(model).load_state_dict(state, strict=False).missing_keys
