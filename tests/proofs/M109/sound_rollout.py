import torch
import torch.nn as nn
import torch.nn.functional as F


class Agent(nn.Module):
    """Recurrent actor and critic on rollouts: time first, several environments beside each other."""

    def __init__(self):
        super().__init__()
        self.body, self.rnn = nn.Linear(6, 16), nn.LSTM(16, 16)
        self.actor, self.critic = nn.Linear(16, 3), nn.Linear(16, 1)

    def forward(self, observations, state):
        steps, environments = observations.shape[:2]
        h = torch.tanh(self.body(observations.flatten(0, 1))).view(steps, environments, -1)
        h, state = self.rnn(h, state)
        h = h.flatten(0, 1)
        return self.actor(h), self.critic(h).squeeze(-1)


torch.manual_seed(0)
agent = Agent()
opt = torch.optim.Adam(agent.parameters(), 1e-3)
for _ in range(8):
    observations, actions = torch.randn(9, 4, 6), torch.randint(0, 3, (36,))
    returns, state = torch.randn(36), (torch.zeros(1, 4, 16), torch.zeros(1, 4, 16))
    logits, value = agent(observations, state)
    advantage = (returns - value).detach()
    chosen = F.log_softmax(logits, -1).gather(1, actions[:, None]).squeeze(1)
    loss = -(chosen * advantage).mean() + F.mse_loss(value, returns)
    opt.zero_grad()
    loss.backward()
    opt.step()
