"""M116."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run, StuckMode

#: steps in the wrong mode before it is told: one step after an evaluation may be a look at something
_STEPS = 3
#: A network that never was in training mode may be meant so (frozen BatchNorm). An eval() that belongs to an
#: evaluation function, called again and again, is not: it was never meant for the steps that follow.
_EVALUATIONS = 2
_NAMED = 3


class TrainedInEvaluationMode(Rule):
    """Training goes on in evaluation mode after a validation.

    ## What it finds
    Optimizer steps on a network in evaluation mode, after `eval()` was called for an evaluation and `train()` was not
    called again, while the network has dropout or BatchNorm layers for which the mode matters.

    ## Why it matters
    Dropout is off, so the network overfits; BatchNorm stops to learn its statistics and normalises with old ones,
    which the weights soon no longer fit. The loss jumps where the mode changes.

    ## Faulty
        for epoch in range(epochs):
            model.train()
            for step, (x, y) in enumerate(loader):
                if step % 100 == 0:
                    validate(model)         # calls model.eval() and returns
                train_step(model, x, y)

    ## Sound
        def validate(model):
            model.eval()
            ...
            model.train()

    ## When it is silent
    When the network is trained in evaluation mode from the start (fine-tuning with frozen statistics), when only
    parts of it are put in evaluation mode, when its own `train()` keeps it there, when it has neither dropout nor
    BatchNorm, and for fewer than three steps.

    ## References
    * https://docs.pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval
    """

    code = "M116"
    name = "trained-in-evaluation-mode"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for stuck in run.modes.stuck:
            forgotten = stuck.earlier_training or (stuck.evaluations >= _EVALUATIONS and not stuck.pretrained)
            if stuck.steps >= _STEPS and stuck.evaluated_between and stuck.layers and forgotten:
                yield self._finding(run, stuck)

    def _finding(self, run: Run, stuck: StuckMode) -> Finding:
        root = run.ledger.roots[stuck.root]
        trained = next((t for t in run.modes.trained if t.root == stuck.root), None)
        total = trained.steps + trained.evaluation_steps if trained is not None else stuck.steps
        more = f" and {len(stuck.layers) - _NAMED} more" if len(stuck.layers) > _NAMED else ""
        return self.finding(
            "{root} is trained in evaluation mode: this eval() was not undone before {steps} of {total} steps",
            at=run.at(stuck.site),
            evidence=[
                evidence("the steps that follow train here", run.at(stuck.forward_site)),
                evidence("without effect meanwhile: {layers}", layers=", ".join(stuck.layers[:_NAMED]) + more),
            ],
            fix="model.train() at the end of the evaluation, or before each training step",
            count=stuck.steps,
            first_step=stuck.first_step,
            subjects=[f"root:{stuck.root}"],
            root=root.name,
            steps=stuck.steps,
            total=total,
        )
