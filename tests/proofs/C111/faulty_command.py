# A file that runs a command when it is read.
# line: 14
import os

import torch


class Payload:
    def __reduce__(self):
        return os.system, ("true",)


torch.save({"weights": torch.zeros(2), "x": Payload()}, "found.pt")
state = torch.load("found.pt", weights_only=True)
