# Everything finds its place; extra statistics and old buffers are left out.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
state = net.state_dict()
state["1.old_statistic"] = torch.zeros(8)
del state["1.num_batches_tracked"]
net.load_state_dict(state, strict=False)
pretrained = {k: v for k, v in state.items() if k in net.state_dict()}
current = net.state_dict()
current.update(pretrained)
net.load_state_dict(current)
