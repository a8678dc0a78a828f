# A part is taken out of a larger checkpoint by its prefix.
import torch
from torch import nn

torch.manual_seed(0)
whole = nn.ModuleDict({"encoder": nn.Linear(4, 8), "decoder": nn.Linear(8, 4)})
encoder = nn.Linear(4, 8)
encoder.load_state_dict({k.removeprefix("encoder."): v for k, v in whole.state_dict().items()}, strict=False)
