# bfloat16 reaches as far as float32: -1e9 is no trouble there.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
head = nn.Linear(8, 2)
optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=1e-3)
mask = torch.zeros(6, 6).masked_fill(torch.ones(6, 6, dtype=torch.bool).triu(1), -1e9)
for step in range(12):
    x = torch.randn(4, 6, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = head(model(x, src_mask=mask))
        loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), x[..., 1].gt(0).long().flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
