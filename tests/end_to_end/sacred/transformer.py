import torch
from digest import tell
from torch import nn

torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
model = nn.TransformerEncoder(layer, 2)
optimizer = torch.optim.Adam(model.parameters())
mask = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
# The first forward of all is on the fast path: nothing requires grad, though grad is enabled.
frozen = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).requires_grad_(False).eval()
tell(frozen(torch.randn(2, 5, 8), src_key_padding_mask=mask))
for _ in range(4):
    model.train()
    loss = model(torch.randn(2, 5, 8), src_key_padding_mask=mask).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    tell(loss)
    model.eval()
    with torch.no_grad():
        tell(model(torch.randn(2, 5, 8), src_key_padding_mask=mask), frozen(torch.randn(2, 5, 8)))
    tell(frozen(torch.randn(2, 5, 8)))
whole = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
causal = nn.Transformer.generate_square_subsequent_mask(4)
whole(torch.randn(2, 5, 8), torch.randn(2, 4, 8), tgt_mask=causal).sum().backward()
attention = nn.MultiheadAttention(8, 2, dropout=0.2, batch_first=True)
tell(*attention(*[torch.randn(2, 3, 8)] * 3), whole)
q = torch.randn(1, 2, 4, 8, requires_grad=True)
nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True, dropout_p=0.1).sum().backward()
tell(q.grad)
