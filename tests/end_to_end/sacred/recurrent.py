import torch
from digest import tell
from torch import nn

torch.manual_seed(0)
for kind in (nn.RNN, nn.GRU, nn.LSTM):
    cell = kind(4, 6, num_layers=2, dropout=0.4, batch_first=True, bidirectional=True)
    head = nn.Linear(12, 2)
    optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()])
    hidden = None
    for _ in range(4):
        output, hidden = cell(torch.randn(2, 5, 4), hidden)
        hidden = tuple(h.detach() for h in hidden) if isinstance(hidden, tuple) else hidden.detach()
        loss = nn.CrossEntropyLoss()(head(output).transpose(1, 2), torch.randint(2, (2, 5)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tell(loss, hidden)
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(2, 5, 4), [5, 3], batch_first=True)
    tell(cell(packed)[0].data, cell, optimizer)
single = nn.LSTMCell(3, 3)
state = None
for _ in range(6):
    state = single(torch.randn(1, 3), state)
state[0].sum().backward()
tell(single)
