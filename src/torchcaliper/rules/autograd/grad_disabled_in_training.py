"""A102."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import DisabledTraining, ForwardKind, Run
from torchcaliper.source.barriers import barred_layers
from torchcaliper.source.graphs import reach
from torchcaliper.source.steps import backwards, inside, loss_of
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Symbol, constant

#: steps with the network's forward under no_grad before it is told that it never learns
_STEPS = 3
#: backward passes after which its parameters were looked at and had no gradient
_LOOKS = 3
_INFERENCE = "Inference tensors cannot be saved for backward"


class GradDisabledInTraining(Rule):
    """The training forward runs with gradients disabled.

    ## What it finds
    `torch.no_grad()`, `torch.inference_mode()` or a `torch.set_grad_enabled(False)` left on around the forward whose
    loss is to be differentiated: backward fails, or a network that an optimizer holds never gets a gradient.

    ## Why it matters
    Without a recorded graph nothing can be learned. If another network in the loss does record one, backward works
    and the program runs to its end with part of the model at its initial values.

    ## Faulty
        @torch.no_grad()
        def step(x, y):
            loss = criterion(model(x), y)
            loss.backward()             # element 0 of tensors does not require grad
            optimizer.step()

    ## Sound
        def step(x, y):
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()

    ## When it is silent
    For networks that no optimizer holds (targets, teachers), for frozen backbones (`requires_grad` off, or in
    evaluation mode), and where other forwards of the same network do record a graph.

    ## References
    * https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation
    """

    code = "A102"
    name = "grad-disabled-in-training"
    severity = Severity.ERROR
    explains = ("A117", "A101", "M104", "O103", "O111", "O104")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        told: set[int] = set()
        for disabled in run.modes.disabled:
            if disabled.root not in told:
                told.add(disabled.root)
                yield self._failed(run, disabled)
        yield from self._inference(run)
        for root in range(len(run.ledger.roots)):
            kind = _never_recorded(run, root) if root not in told else None
            if kind is not None:
                yield self._silent(run, root, kind)

    def _failed(self, run: Run, disabled: DisabledTraining) -> Finding:
        root = run.ledger.roots[disabled.root]
        return self.finding(
            "gradients are disabled in the training forward of {root}, so backward has no graph to go through",
            at=run.at(disabled.guard_site if disabled.guard_site is not None else disabled.forward_site),
            evidence=[
                evidence("the forward, under {how}", run.at(disabled.forward_site), how=disabled.how),
                evidence("backward says: {text}", run.at(disabled.backward_site), text=disabled.message),
            ],
            fix="Keep no_grad/inference_mode to the evaluation; after set_grad_enabled(False), set it to True again.",
            count=disabled.times,
            first_step=disabled.step,
            subjects=_subjects(run, disabled.root),
            root=root.name,
        )

    def _inference(self, run: Run) -> Iterator[Finding]:
        for failure in run.failures:
            if failure.message.startswith(_INFERENCE):
                made = next((k for k in reversed(run.modes.forwards) if k.inference), None)
                site = failure.site
                shown = [evidence("the tensor is used for training here", run.at(failure.site))]
                if made is not None:
                    site = made.grad_site if made.grad_site is not None else made.site
                    shown.append(evidence("it was made by the forward here", run.at(made.site)))
                yield self.finding(
                    "a tensor made under inference_mode is used for training; autograd must not save it",
                    at=run.at(site),
                    evidence=shown,
                    fix="Use torch.no_grad() instead of torch.inference_mode() here.",
                    first_step=failure.step,
                )
                return

    def _silent(self, run: Run, root: int, kind: ForwardKind) -> Finding:
        record = run.ledger.roots[root]
        return self.finding(
            "{root} is held by an optimizer, but all its {calls} training forwards ran with gradients disabled",
            at=run.at(kind.grad_site if kind.grad_site is not None else kind.site),
            evidence=[
                evidence("the forward", run.at(kind.site)),
                evidence("its {n} parameters never had a gradient", n=record.parameters),
            ],
            fix="Take the forward out of no_grad, or take these parameters out of the optimizer and freeze them.",
            count=kind.calls,
            first_step=kind.first_step,
            subjects=_subjects(run, root),
            root=record.name,
            calls=kind.calls,
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            if not trace.complete:
                continue
            for backward in backwards(trace):
                found = reach(loss_of(backward))
                if not (found.parameters or found.unknown or found.cuts) and found.unrecorded:
                    yield from self._disabled(found.unrecorded[-1], backward, told)
                for made in found.from_inference[:1]:
                    yield from self._disabled(made, backward, told)
            for barred in barred_layers(trace):
                if not barred.by_cut:
                    yield from self._disabled(barred.barrier, barred.step, told)
            yield from self._left_off(trace)

    def _disabled(self, made: Symbol, event: Event, told: set[int]) -> Iterator[Finding]:
        context = made.context
        region = context.region if context is not None else None
        place = region.place if region is not None else made.place
        if place is None or id(place.node) in told:
            return
        told.add(id(place.node))
        yield self.finding(
            "gradients are disabled in the training forward, so nothing reaches the parameters behind it",
            at=place.location,
            evidence=[
                *([evidence("a forward that is not recorded", made.place.location)] if made.place else []),
                evidence("what waits for its gradients", event.location),
            ],
            fix="Keep no_grad/inference_mode to the evaluation; after set_grad_enabled(False), set it to True again.",
        )

    def _left_off(self, trace: Trace) -> Iterator[Finding]:
        """`set_grad_enabled(False)` as a statement, and nothing that undoes it before the next backward."""
        set_to = list(trace.named("grad_mode"))
        for event in set_to:
            loop = event.context.loop
            off = constant(event.arguments.get("mode", 0)) is False
            if off and loop is not None and len(set_to) == 1 and any(inside(b, loop) for b in backwards(trace)):
                yield self.finding(
                    "gradients are disabled here and stay so: the next turn of the loop trains without them",
                    at=event.location,
                    evidence=[evidence("the loop", loop.place.location)],
                    fix="with torch.no_grad(): around the evaluation, or torch.set_grad_enabled(True) after it",
                )


def _never_recorded(run: Run, root: int) -> ForwardKind | None:
    """The most frequent forward of a root that is to be trained and never had gradients enabled."""
    if not run.backwards or any(t.root == root and (t.steps or t.evaluation_steps) for t in run.modes.trained):
        return None
    if not any(t.root == root and t.optimizers for t in run.modes.trained):
        return None
    own = [k for k in run.modes.forwards if k.root == root]
    if not own or any(k.grad for k in own):
        return None
    training = [k for k in own if k.training and k.steps >= _STEPS]
    parameters = [p for p in run.ledger.parameters if p.root == root and p.trainable and p.optimizers]
    if not training or not parameters or any(p.gradients or p.looks < _LOOKS for p in parameters):
        return None
    return max(training, key=lambda k: k.calls)


def _subjects(run: Run, root: int) -> list[str]:
    own = [f"parameter:{i}" for i, p in enumerate(run.ledger.parameters) if p.root == root]
    return [f"root:{root}", *own, *(f"optimizer:{o}" for o in run.ledger.roots[root].optimizers)]
