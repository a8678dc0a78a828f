"""O114."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import ParameterGroup, Run

#: optimizer steps before a word is worth it
STEPS = 4


class DecayOnNormOrBias(Rule):
    """Weight decay pulls normalisation gains and biases towards zero.

    ## What it finds
    Parameter groups in which the weight decay that the program asks for falls on norm and bias parameters: exactly on
    them while the matrices have none (the groups are swapped), on norms that a list of names was to leave out and does
    not match, or on all parameters alike.

    ## Why it matters
    Decay regularises matrices. Norm gains and biases gain nothing from it; a strong one shrinks every layer's output.
    Swapped groups leave the network without the regularisation it was given.

    ## Faulty
    ```python
    decay = [p for n, p in named if "bias" in n or "norm" in n]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    ```

    ## Sound
    ```python
    decay = [p for p in model.parameters() if p.ndim >= 2]
    plain = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
    ```

    ## When it is silent
    The optimizer's default decay was not touched; norms and biases are in a group without decay.

    ## References
    - https://arxiv.org/abs/1711.05101 (decoupled weight decay)
    - https://arxiv.org/abs/1812.01187 (no decay on biases and norms, section 3.1)
    - https://pytorch.org/docs/stable/optim.html#per-parameter-options
    """

    code = "O114"
    name = "decay-on-norm-or-bias"
    severity = Severity.ADVICE

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for number, optimizer in enumerate(run.ledger.optimizers):
            if optimizer.steps < STEPS or not optimizer.decay_given:
                continue
            decayed = [g for g in optimizer.groups if g.weight_decay and g.parameters]
            free = [g for g in optimizer.groups if g.weight_decay == 0]
            small = [i for g in decayed for i in g.parameters if self._small(run, i)]
            if not small:
                continue
            matrices_decayed = any(not self._small(run, i) for g in decayed for i in g.parameters)
            matrices_free = [i for g in free for i in g.parameters if not self._small(run, i)]
            group = next(g for g in decayed if any(self._small(run, i) for i in g.parameters))
            if not matrices_decayed and matrices_free:
                message = (
                    "the groups are swapped: weight decay {decay:g} falls on exactly {small} norm and bias parameters, "
                    "and {matrices} weight matrices have none"
                )
                fix = "exchange the two lists: decay for matrices (p.ndim >= 2), none for norms and biases"
            elif free:
                message = (
                    "weight decay {decay:g} also falls on {small} norm and bias parameters that the "
                    "groups leave in, such as {example}"
                )
                fix = "choose by shape instead of by name: decay where p.ndim >= 2"
            else:
                message = "weight decay {decay:g} falls on {small} norm and bias parameters as well, such as {example}"
                fix = "put parameters with p.ndim < 2 in a group with weight_decay=0"
            yield self.finding(
                message,
                at=run.at(group.site),
                evidence=(evidence("{optimizer} is made here", run.at(optimizer.site), optimizer=optimizer.name),),
                fix=fix,
                subjects=(f"optimizer:{number}",),
                decay=group.weight_decay,
                small=len(small),
                matrices=len(matrices_free),
                example=self._example(run, group),
            )

    @staticmethod
    def _small(run: Run, index: int) -> bool:
        parameter = run.ledger.parameters[index]
        return parameter.role in ("norm", "bias") and len(parameter.shape) < 2

    def _example(self, run: Run, group: ParameterGroup) -> str:
        return next(run.ledger.parameters[i].name for i in group.parameters if self._small(run, i))
