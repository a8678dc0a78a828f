import torch
from digest import tell
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.convolution = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.drop = nn.Dropout2d(0.2)

    def forward(self, x):
        return x + nn.functional.relu_(self.drop(self.norm(self.convolution(x))))


torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 8, 3), Block(8), nn.MaxPool2d(2), Block(8), nn.AdaptiveAvgPool2d(1), nn.Flatten())
model.append(nn.Linear(8, 5))
nn.init.kaiming_normal_(model[0].weight)
averaged = torch.optim.swa_utils.AveragedModel(model, use_buffers=True)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(6):
    model.train()
    x, y = torch.randn(4, 3, 12, 12), torch.randint(5, (4,))
    loss = nn.functional.nll_loss(model(x).log_softmax(1), y)
    loss = loss / 2
    loss.backward()
    if step % 2:
        optimizer.step()
        optimizer.zero_grad()
        averaged.update_parameters(model)
    model.eval()
    with torch.inference_mode():
        tell(loss, model(x).argmax(1))
torch.optim.swa_utils.update_bn([torch.randn(4, 3, 12, 12)], averaged)
tell(model, averaged, optimizer)
