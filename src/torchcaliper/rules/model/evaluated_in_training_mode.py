"""M115."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import ForwardKind, RootTraining, Run

#: steps a network must have been trained for: before that nobody can tell its evaluation from its training
_TRAINED = 3
#: one evaluation may be a mistake of a moment or a look at an example; two are a habit
_TIMES = 2
#: An evaluation comes clearly less often than a step. Forwards without gradients at nearly every step are part of the
#: algorithm: pseudo-labels (FixMatch), targets (BYOL), a generator that feeds its critic, line searches.
_PER_STEP = 0.5
#: layers that are named
_NAMED = 3


class EvaluatedInTrainingMode(Rule):
    """Validation with dropout or batch statistics on.

    ## What it finds
    A trained network whose evaluation ran in training mode although it has active dropout or BatchNorm layers: fed by
    a DataLoader that no training step was fed from, or given to a loss without gradients, or done again and again on
    the same data that is never trained on.

    ## Why it matters
    Dropout makes the score noisy and too low. BatchNorm normalises with the statistics of the evaluation batch, so a
    sample's prediction depends on its neighbours, and the running statistics learn from the evaluation data.

    ## Faulty
        def evaluate(model, loader):
            with torch.no_grad():
                return sum(criterion(model(x), y).item() for x, y in loader) / len(loader)

    ## Sound
        def evaluate(model, loader):
            model.eval()
            with torch.no_grad():
                loss = sum(criterion(model(x), y).item() for x, y in loader) / len(loader)
            model.train()
            return loss

    ## When it is silent
    When `train()` was called for these very forwards and undone afterwards (Monte-Carlo dropout, re-estimated
    BatchNorm statistics, `torch.optim.swa_utils.update_bn`), or the same input is given many times over. For forwards
    that happen at nearly every step (targets, pseudo-labels, generators). For sample pictures of a generator. For
    networks that no optimizer trains, and for those without dropout and BatchNorm. Where the function that evaluates
    calls `train()` itself below, the mode may be its choice: then it is told as advice.

    ## References
    * https://docs.pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html
    """

    code = "M115"
    name = "evaluated-in-training-mode"
    severity = Severity.ERROR
    explains = ("A107",)

    def judge_run(self, run: Run) -> Iterator[Finding]:
        trained = {t.root: t for t in run.modes.trained}
        told: set[int] = set()
        for kind in run.modes.forwards:
            training = trained.get(kind.root)
            if (
                training is None
                or training.steps < _TRAINED
                or not kind.training
                or not kind.layers
                or kind.root in told
            ):
                continue
            proof = _proof(run, kind, training)
            if proof is not None:
                told.add(kind.root)
                yield self._finding(run, kind, proof)

    def _finding(self, run: Run, kind: ForwardKind, proof: Evidence) -> Finding:
        root = run.ledger.roots[kind.root]
        calls = _evaluations(kind)
        shown = [proof]
        evals = [c for c in run.modes.calls if c.root == kind.root and not c.training]
        if not evals:
            shown.append(evidence("eval() was never called on {root}", root=root.name))
        elif kind.mode_site is not None:
            shown.append(evidence("the mode in force was set here", run.at(kind.mode_site)))
        if kind.grad:
            shown.append(evidence("gradients were on, too: torch.no_grad() saves the graph"))
        return self.finding(
            "{root} is evaluated in training mode: {layers} stay active ({calls} forwards)",
            at=run.at(kind.site),
            evidence=shown,
            severity=Severity.ADVICE if 2 * kind.train_after >= kind.runs else None,
            fix="model.eval() before the evaluation, model.train() before training goes on",
            count=calls,
            first_step=kind.first_step,
            subjects=[f"root:{kind.root}"],
            root=root.name,
            layers=_names(kind.layers),
            calls=calls,
        )


def _evaluations(kind: ForwardKind) -> int:
    """Calls that no backward followed."""
    return kind.graph_kept if kind.grad else kind.calls


def _proof(run: Run, kind: ForwardKind, training: RootTraining) -> Evidence | None:
    """What shows that these forwards are an evaluation, or None."""
    if 2 * kind.mode_set >= kind.calls or _evaluations(kind) < _TIMES:
        return None
    if 2 * kind.same_input >= kind.calls:  # one input many times over: draws of Monte-Carlo dropout
        return None
    seldom = kind.runs <= _PER_STEP * training.steps
    if kind.foreign_loader >= _TIMES and (seldom or kind.longest_run >= _TIMES):
        return evidence("{n} batches came from a DataLoader that no step was trained from", n=kind.foreign_loader)
    if kind.grad:
        return None
    if kind.loss_calls >= _TIMES and (seldom or kind.fixed_input >= _TIMES - 1):
        return evidence("a loss was computed on the outputs without gradients, {n} times", n=kind.loss_calls)
    # A generator shown on fixed noise looks the same, but in training its output goes into another network.
    own = [k for k in run.modes.forwards if k.root == kind.root and k.consumed]
    direct = any(k.direct_loss for k in own) and not any(k.chained for k in own)
    if kind.fixed_input >= _TIMES - 1 and direct:
        return evidence("the same data, never trained on, was given to it in {n} phases", n=kind.fixed_input + 1)
    return None


def _names(layers: list[str]) -> str:
    more = f" and {len(layers) - _NAMED} more" if len(layers) > _NAMED else ""
    return ", ".join(layers[:_NAMED]) + more
