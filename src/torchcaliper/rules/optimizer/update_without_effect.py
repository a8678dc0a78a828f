"""O111."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: steps between the two looks: a warm-up that starts at a learning rate of zero has moved on by then
STEPS = 16


class UpdateWithoutEffect(Rule):
    """Steps are taken and no parameter changes.

    ## What it finds
    An optimizer that steps, whose parameters have gradients that are not zero, and whose sampled values (up to 64 of
    each of 8 parameters) are the same, bit for bit, many steps later.

    ## Why it matters
    The learning rate is zero or so small that it is lost in rounding (half-precision weights keep 8 to 11 bits), or
    the optimizer updates copies: nothing is learned.

    ## Faulty
    ```python
    model = model.bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    ```

    ## Sound
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)   # float32 weights, bfloat16 under autocast
    ```

    ## When it is silent
    Any sampled value moved since the optimizer was made; all sampled gradients were zero (the gradient is the fault
    then); warm-up from zero; a single parameter that does not move, such as a bias before BatchNorm.

    ## References
    - https://pytorch.org/docs/stable/optim.html
    - https://arxiv.org/abs/2010.06192 (updates lost to rounding in bfloat16 training)
    """

    code = "O111"
    name = "update-without-effect"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for number, optimizer in enumerate(run.ledger.optimizers):
            still = optimizer.compared > 0 and optimizer.unmoved == optimizer.compared
            if not still or not optimizer.gradient_seen or optimizer.compared_steps < STEPS:
                continue
            rates = [g.lr for g in optimizer.groups if g.lr is not None]
            kinds = sorted({run.ledger.parameters[i].dtype for g in optimizer.groups for i in g.parameters})
            proof = [evidence("their gradients are not zero; dtype {kinds}", kinds=", ".join(kinds))]
            if rates:
                proof.append(evidence("learning rate {rate:g} when the optimizer was made", rate=max(rates)))
            yield self.finding(
                "{steps:,} steps of {optimizer} changed none of the {compared} parameters looked at",
                at=run.at(optimizer.site),
                evidence=proof,
                fix="check the learning rate; keep the weights in float32 and use autocast for half precision",
                count=optimizer.compared_steps,
                subjects=(f"optimizer:{number}",),
                steps=optimizer.compared_steps,
                optimizer=optimizer.name,
                compared=optimizer.compared,
            )
