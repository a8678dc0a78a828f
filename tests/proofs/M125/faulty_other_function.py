# The transposition is made in another function, as an attribute, and without gradients.
# line: 8
import torch


def features(matrix):
    centred = matrix - matrix.mean(0)
    turned = centred.T
    return turned


def flat(matrix):
    rows = features(matrix)
    return rows.view(-1)


print(flat(torch.arange(12.0).reshape(3, 4)))
