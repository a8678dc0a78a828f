from torch.nn import functional as F


def tagging_loss(scores, tags, pad=-100):
    flat = scores.reshape(-1, scores.size(-1))
    return F.nll_loss(flat, tags.reshape(-1), ignore_index=pad)
