"""M119."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import FreezeNote, Run

#: steps (or training forwards) in which the layers trained against the intent
STEPS = 4
#: steps after which a train() that was never called will not be called any more, or came too late
NEVER = 10


class FreezeNotInEffect(Rule):
    """A freeze or mode change is written down and does not take effect.

    ## What it finds
    - `module.requires_grad = False`: on a module this is an attribute without meaning, its parameters go on training;
      likewise a misspelt `p.require_grad = False`.
    - an overridden `train()` that puts layers in evaluation mode before `super().train()` puts them back;
    - an overridden `train()` that freezes layers and is never called, since a new module is in training mode already;
    - a frozen part put in evaluation mode once, before `model.train()` of the whole network takes it back.

    ## Why it matters
    Layers that were to keep their pretrained values or statistics drift away from them.

    ## Faulty
    ```python
    model.backbone.requires_grad = False
    ```

    ## Sound
    ```python
    model.backbone.requires_grad_(False)
    ```

    ## When it is silent
    The parameters are frozen by other means or get no gradient; the layers have neither dropout nor running
    statistics, so that their mode has no effect; the condition around a freeze is off or not understood.

    ## References
    - https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.requires_grad_
    - https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.train
    - https://pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation
    """

    code = "M119"
    name = "freeze-not-in-effect"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for note in run.ledger.freezes:
            if run.steps < STEPS:
                return
            told = self._attribute(run, note) if note.kind.endswith("-attribute") else self._mode(run, note)
            if told is not None:
                yield told

    def _attribute(self, run: Run, note: FreezeNote) -> Finding | None:
        trained = [
            i
            for i, p in enumerate(run.ledger.parameters)
            if p.root == note.root
            and f"{p.name}.".startswith(f"{note.module}.")
            and p.trainable
            and p.gradients >= STEPS
            and p.optimizers
        ]
        if not trained:
            return None
        if note.kind == "module-attribute":
            message = (
                "`requires_grad = False` on a module has no effect: the {parameters} parameters of "
                "{module} go on training"
            )
            fix = "{last}.requires_grad_(False)"
        else:
            message = "parameters have no setting `{detail}`: {parameters} of {module} go on training"
            fix = "p.requires_grad = False"
        return self.finding(
            message,
            at=run.at(note.site),
            evidence=(
                evidence(
                    "{name} got gradients, and an optimizer holds it", name=run.ledger.parameters[trained[0]].name
                ),
            ),
            fix=fix,
            subjects=(f"root:{note.root}", f"site:{note.site}"),
            parameters=note.parameters,
            module=note.module,
            detail=note.detail,
            last=note.module.rpartition(".")[2],
        )

    def _mode(self, run: Run, note: FreezeNote) -> Finding | None:
        proof: list[Evidence] = []
        if note.kind == "undone-in-train":
            message = "{module} is put in evaluation mode here and back in training mode before train() returns"
            fix = "call super().train(mode) first, and eval() on the frozen part after it"
        elif note.kind == "train-never-called":
            if not run.complete or run.steps < NEVER:
                return None
            message = "this freeze in {detail}.train() never runs: train() was not called in {steps:,} steps"
            fix = "call model.train() before training; a new module is in training mode without that call"
        else:
            message = (
                "{module} is frozen and put in evaluation mode here, and train() of the whole network takes that back"
            )
            path, _, line = note.detail.rpartition(":")
            where = f"{path}:{line}" if path else "later"
            proof.append(
                evidence("train() at {where} sets all layers; its running statistics change again", where=where)
            )
            fix = "call eval() on the frozen part after each model.train(), or in an overridden train()"
        return self.finding(
            message,
            at=run.at(note.site),
            evidence=proof,
            fix=fix,
            subjects=(f"root:{note.root}", f"site:{note.site}"),
            module=note.module,
            detail=note.detail,
            steps=run.steps,
        )
