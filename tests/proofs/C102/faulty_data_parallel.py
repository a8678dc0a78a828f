# The state of a DataParallel is loaded into the plain network.
# line: 9
import torch
from torch import nn

torch.manual_seed(0)
trained = nn.DataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
model.load_state_dict(trained.state_dict())
