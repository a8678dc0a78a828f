import torch
import torch.nn as nn
import torch.nn.functional as F


class DecisionTransformer(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.returns, self.states, self.actions = nn.Linear(1, dim), nn.Linear(4, dim), nn.Embedding(3, dim)
        layer = nn.TransformerEncoderLayer(dim, 2, 32, dropout=0.0, batch_first=True)
        self.net, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(dim, 3)

    def forward(self, returns, states, actions):
        B, T = actions.shape
        tokens = torch.stack((self.returns(returns), self.states(states), self.actions(actions)), dim=1)
        tokens = tokens.permute(0, 2, 1, 3).reshape(B, 3 * T, -1)
        mask = nn.Transformer.generate_square_subsequent_mask(3 * T)
        h = self.net(tokens, mask=mask, is_causal=True).reshape(B, T, 3, -1).permute(0, 2, 1, 3)
        return self.head(h[:, 1])


torch.manual_seed(0)
model = DecisionTransformer()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    actions = torch.randint(0, 3, (6, 10))
    logits = model(torch.randn(6, 10, 1), torch.randn(6, 10, 4), actions)
    loss = F.cross_entropy(logits.reshape(-1, 3), actions.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
