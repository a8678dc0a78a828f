# Features are computed once, before the loop, by an encoder that is trained as well.
# line: 18
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 5)
y = (x[:, :1] > 0).float()
encoder, head = nn.Linear(5, 8), nn.Linear(8, 1)
encoder_optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
features = encoder(x)
head_optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(20):
    scores = features @ head.weight.detach().t() + head(features.detach())
    loss = nn.functional.binary_cross_entropy_with_logits(scores, y)
    encoder_optimizer.zero_grad()
    head_optimizer.zero_grad()
    loss.backward(retain_graph=True)
    encoder_optimizer.step()
    head_optimizer.step()
print(f"loss {loss.item():.4f}")
