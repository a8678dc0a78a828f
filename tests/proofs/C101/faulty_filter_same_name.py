# The filtered state takes the name of the whole one.
# line: 11
import torch
from torch import nn

torch.manual_seed(0)
torch.save({"encoder." + k: v for k, v in nn.Linear(4, 8).state_dict().items()}, "pretrained.pt")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
model_dict = model.state_dict()
pretrained_dict = torch.load("pretrained.pt")
pretrained_dict = {k: v for k, v in pretrained_dict.items() if k in model_dict}
model_dict.update(pretrained_dict)
model.load_state_dict(model_dict)
