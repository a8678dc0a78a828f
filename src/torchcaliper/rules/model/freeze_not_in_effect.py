"""M119."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Edit, Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import FreezeNote, Run
from torchcaliper.source.edits import replaced
from torchcaliper.source.layers import is_network, is_network_class, layer_type, registered
from torchcaliper.source.steps import held_by
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Class, Function, Object, Value, constant, options

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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            for event in trace.named("set"):
                if constant(event.result) is not False or id(event.node) in told:
                    continue
                receivers = list(options(event.receiver))
                on_module = event.attribute == "requires_grad" and any(is_network(r) for r in receivers)
                misspelt = event.attribute in _MISSPELT and (
                    any(is_network(r) for r in receivers) or held_by(event.receiver).networks
                )
                if not on_module and not misspelt:
                    continue
                if any(isinstance(r, Object) and r.method(event.attribute) is not None for r in receivers):
                    continue  # a property of the user's own
                if on_module and any(_freezes(other, receivers) for other in trace.events):
                    continue
                told.add(id(event.node))
                yield self.finding(
                    "`{attribute} = False` on {what} is an attribute without meaning: the parameters go on training",
                    at=event.location,
                    fix="module.requires_grad_(False)" if on_module else "requires_grad = False",
                    edits=_frozen(reading, event) if on_module and event.attribute == "requires_grad" else (),
                    attribute=event.attribute,
                    what="a module" if on_module else "this",
                )
            yield from _taken_back(self, trace)
        for made in reading.classes:
            line = _eval_before_super(made)
            if line is not None:
                yield self.finding(
                    "layers are put in evaluation mode before super().train(), which puts them back",
                    at=made.scope.file.location(line),
                    fix="call super().train(mode) first, then eval() of the frozen layers",
                )


#: what is written for requires_grad
_MISSPELT = frozenset(
    "require_grad required_grad requires_grads require_grads requiresgrad requiresGrad requires_gradient".split()
)


def _freezes(event: Event, receivers: list[Value]) -> bool:
    """Whether something else freezes the same parameters."""
    if event.name == "requires_grad_":
        return any(r in receivers for r in options(event.receiver)) or bool(held_by(event.receiver).networks)
    return (
        event.name == "set"
        and event.attribute == "requires_grad"
        and bool(held_by(event.receiver).networks and not any(is_network(r) for r in options(event.receiver)))
    )


def _taken_back(rule: FreezeNotInEffect, trace: Trace) -> Iterator[Finding]:
    """A frozen part that is put in evaluation mode once, before train() of the whole takes it back."""
    trains = [
        e for e in trace.named("train") if e.context.loop is not None and constant(e.arguments.get("mode", 0), True)
    ]
    for event in trace.named("eval"):
        part = event.receiver
        if not isinstance(part, Object) or event.context.loop is not None or not _has_mode(part):
            continue
        frozen = any(
            part in held_by(e.receiver).networks or e.receiver is part
            for e in trace.named("set", "requires_grad_")
            if e.name == "requires_grad_" or (e.attribute == "requires_grad" and constant(e.result) is False)
        )
        wholes = [t for t in trains if t.index > event.index and _holds(t.receiver, part)]
        again = any(e.receiver is part and e is not event for e in trace.named("eval"))
        if frozen and wholes and not again:
            yield rule.finding(
                "a frozen part is put in evaluation mode here, and train() of the whole network takes it back",
                at=event.location,
                evidence=[evidence("train() of the whole", wholes[0].location)],
                fix="call eval() of the part after each train(), or override train() of the network",
            )


def _holds(whole: Value | None, part: Object) -> bool:
    return isinstance(whole, Object) and whole is not part and part in registered(whole)


def _has_mode(network: Object) -> bool:
    return any(layer_type(part).startswith(("BatchNorm", "Dropout")) for part in registered(network))


def _eval_before_super(made: Class) -> ast.AST | None:
    """The statement of an overridden train() that super().train() takes back."""
    method = made.member("train")
    if not isinstance(method, Function) or method.owner is not made or isinstance(method.definition, ast.Lambda):
        return None
    if not is_network_class(made):
        return None
    found: ast.AST | None = None
    for statement in method.definition.body:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            of_super = isinstance(node.func.value, ast.Call) and ast.unparse(node.func.value.func) == "super"
            if node.func.attr == "train" and of_super:
                return found
            if node.func.attr == "eval" and not node.args:
                found = statement
    return None


def _frozen(reading: Reading, event: Event) -> list[Edit]:
    """`module.requires_grad = False` as `module.requires_grad_(False)`."""
    target = event.node
    statements = (n for n in ast.walk(reading.file.tree) if isinstance(n, ast.Assign))
    statement = next((s for s in statements if s.targets == [target]), None)
    if statement is None or not isinstance(target, ast.Attribute) or event.file is not reading.file:
        return []
    return [replaced(event.file, statement, f"{ast.unparse(target.value)}.requires_grad_(False)")]
