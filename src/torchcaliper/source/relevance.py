"""Which parts of a file are worth following: those that name something a rule may judge."""

from __future__ import annotations

import ast
import re

from torchcaliper.source.file import SourceFile

#: Names of what rules look at, as they stand in the source of a part: calls, layers, attributes. A part without any of
#: them holds nothing to judge by itself; what it calls is followed where it is defined.
_JUDGED = re.compile(
    r"\b(?:backward|zero_grad|step|update|scale|unscale_|clip_grad_\w+|optim|DataLoader|Dataset|IterableDataset|Subset"
    r"|\w*Sampler|set_epoch|random_split|num_workers|default_rng|RandomState|hash|shuffle|permutation|randperm|astype"
    r"|state_dict|load_state_dict|deepcopy|save|load|compile|script|trace|export|checkpoint|autocast|GradScaler|no_grad"
    r"|inference_mode|set_grad_enabled|requires_grad\w*|grad|detach|data|item|tolist|numpy|cpu|cuda|eval|train|training"
    r"|\w*softmax|\w*sigmoid|Softmax\w*|LogSoftmax|Sigmoid|\w*[lL]oss|\w*cross_entropy\w*|kl_div|log\w*|exp|view"
    r"|reshape|argmax|max|mean|\w*[dD]ropout\w*|BatchNorm\w*|batch_norm|Linear|Conv\w*|Embedding|Parameter"
    r"|Module\w*|Sequential|nn|masked_fill\w*|scaled_dot_product_attention|MultiheadAttention|attn_mask|generate"
    r"|File|memmap|uint8|set|float64|double|parameters|named_parameters|Adam\w*|cv2|Process|spawn|fork)\b"
)


def is_relevant(file: SourceFile, definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether a function or class names anything that a rule may judge."""
    starts = file.starts
    first, last = definition.lineno - 1, definition.end_lineno or definition.lineno
    end = starts[last] if last < len(starts) else len(file.text)
    return _JUDGED.search(file.text, starts[first], end) is not None
