# Weights loaded first, spectral_norm applied after: u and v are random at inference.
# line: 21
import torch
from torch import nn
from torch.nn.utils import spectral_norm


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(8 * 16, 1)

    def forward(self, x):
        return self.head(self.body(x))


@torch.no_grad()
def scores(critic, pictures):
    critic.eval()
    return critic(pictures)


torch.manual_seed(0)
trained = Critic().state_dict()
critic = Critic()
critic.load_state_dict(trained)
critic.body[0] = spectral_norm(critic.body[0])
critic.head = spectral_norm(critic.head)
print(scores(critic, torch.randn(4, 1, 6, 6)).flatten().tolist())
