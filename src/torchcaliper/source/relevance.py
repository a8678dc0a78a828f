"""Which parts of a file are worth following: those that name something a rule may judge."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left

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


def relevant_lines(file: SourceFile) -> list[int]:
    """The lines (from 1, ascending) that name anything that a rule may judge."""
    found: list[int] = []
    line, start, text = 1, 0, file.text
    for match in _JUDGED.finditer(text):
        line += text.count("\n", start, match.start())
        start = match.start()
        if not found or found[-1] != line:
            found.append(line)
    return found


def is_relevant(lines: list[int], definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether a function or class has any of these lines."""
    at = bisect_left(lines, definition.lineno)
    return at < len(lines) and lines[at] <= (definition.end_lineno or definition.lineno)
