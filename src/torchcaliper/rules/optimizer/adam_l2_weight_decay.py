"""O109: weight decay that Adam scales away."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Object, constant


class AdamL2WeightDecay(Rule):
    """Adam's `weight_decay` is L2 in the gradient; AdamW decouples it.

    ## What it finds
    `torch.optim.Adam` with a weight decay of 0.01 or more, the size that is meant for AdamW.

    ## Why it matters
    Adam adds the decay to the gradient and divides the sum by the gradient's size: weights with large gradients hardly
    decay, others fast. Decay of the size that papers give is AdamW's.

    ## Faulty
    ```python
    torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=0.05)
    ```

    ## Sound
    ```python
    torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    ```

    ## When it is silent
    For small values, which are common as an L2 penalty, for `decoupled_weight_decay=True`, and for values that are not
    written out.

    ## References
    * https://arxiv.org/abs/1711.05101
    """

    code = "O109"
    name = "adam-l2-weight-decay"
    severity = Severity.ADVICE

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for made in reading.events("make"):
            optimizer = made.result
            if not isinstance(optimizer, Object) or optimizer.type != "torch.optim.Adam" or id(made.node) in told:
                continue
            decay = constant(optimizer.arguments.get("weight_decay", 4))
            decoupled = optimizer.arguments.get("decoupled_weight_decay")
            if not isinstance(decay, float) or decay < _OF_ADAMW or decoupled is not None:
                continue
            told.add(id(made.node))
            yield self.finding(
                "Adam puts the weight decay of {decay:g} into the gradient, and divides it by the gradient's size",
                at=made.location,
                fix="torch.optim.AdamW, which decays the weights themselves",
                decay=decay,
            )


#: AdamW's default; an L2 penalty is mostly far smaller
_OF_ADAMW = 0.01
