"""L107: the first loss of a fresh network is far above chance."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_numerics import FirstLoss

#: times chance, and above chance: what no usual initialisation gives
_TIMES, _ABOVE = 3.0, 4.0
#: a factor on the logits, a size of the last layer's weights against the usual, and a size of inputs that explain it
_FACTOR, _HEAD, _INPUT = 4.0, 4.0, 10.0
#: steps before it is told: a program that only tries its loss out is let alone
_STEPS = 2


class ImplausibleInitialLoss(Rule):
    """The first loss of a fresh network is far above chance.

    ## What it finds
    A classifier that has not been trained and whose first loss is several times what guessing gives (ln C for C
    classes, ln 2 for a binary loss), and a reason for it: inputs of a large scale, weights that start several times
    larger than usual, a factor on the logits. The mean is taken over the targets without weights, whatever the
    program's own reduction is.

    ## Why it matters
    A fresh network knows nothing, and should say so. A loss far above chance means that it is very sure, and wrong:
    inputs that are not normalised, weights that start too large, a temperature or scale on the logits. The first
    epochs go by in unlearning that, or the training never recovers.

    ## Faulty
    ```python
    nn.init.normal_(self.head.weight)            # standard deviation 1 over 512 inputs
    loss = F.cross_entropy(self.head(h), y)      # 18.2 for 10 classes, where ln 10 = 2.3
    ```

    ## Sound
    ```python
    nn.init.normal_(self.head.weight, std=0.02)
    ```

    ## When it is silent
    Loaded or pretrained weights; a loss below three times chance; soft targets; networks that have been trained
    already in this run; a high loss without one of these reasons (tied embeddings, similarities).

    ## References
    * [A Recipe for Training Neural Networks: verify loss at init](https://karpathy.github.io/2019/04/25/recipe/)
    """

    code = "L107"
    name = "implausible-initial-loss"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for first in run.numerics.first_losses:
            if not first.fresh or run.steps < _STEPS or first.root is None or not run.ledger.roots[first.root].trained:
                continue
            chance = math.log(first.classes) if first.classes > 1 else math.log(2)
            if math.isfinite(first.value) and first.value >= max(_TIMES * chance, chance + _ABOVE):
                yield from self._tell(run, first, chance)

    def _tell(self, run: Run, first: FirstLoss, chance: float) -> Iterator[Finding]:
        if first.scaled_by >= _FACTOR and first.scaled_site is not None:
            at, why = run.at(first.scaled_site), ": the logits are multiplied by {factor:.3g} here"
            fix = "leave out the factor, or begin with one near 1"
        elif first.head_ratio >= _HEAD and first.head is not None:
            at = run.at(first.head_site) or run.at(first.site)
            why = ": the weights of {head} start {ratio:.3g} times as large as usual"
            fix = "initialise them smaller (the layer's own default, or std=0.02)"
        elif first.input_scale >= _INPUT:
            at, why = run.at(first.site), ": values up to {scale:.4g} go into the network"
            fix = "normalise the inputs (subtract the mean, divide by the standard deviation)"
        else:
            return  # without a reason it may be meant: tied embeddings, logits that are similarities
        yield self.finding(
            "the first loss is {value:.3g}, where guessing gives {chance:.3g}" + why,
            at=at,
            evidence=(
                evidence(
                    "{function}: mean over its targets, before the first step; the logits spread by {spread:.3g}",
                    run.at(first.site),
                    function=first.function,
                    spread=first.spread,
                ),
            ),
            fix=fix,
            first_step=0,
            subjects=(f"loss:{first.site}", f"root:{first.root}"),
            value=first.value,
            chance=chance,
            factor=first.scaled_by,
            ratio=first.head_ratio,
            head=run.ledger.parameters[first.head].module if first.head is not None else "",
            scale=first.input_scale,
        )
