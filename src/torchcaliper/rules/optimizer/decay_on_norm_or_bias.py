"""O114."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import ParameterGroup, Run
from torchcaliper.source.selections import Named, NotKnown, named_parameters, selected
from torchcaliper.source.steps import held_by, is_optimizer_object
from torchcaliper.source.trace import Event, Reading
from torchcaliper.source.values import Collection, Constant, Object, Place, Table, Value

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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for made in reading.events("make"):
            if id(made.node) in told or not is_optimizer_object(made.result):
                continue
            assert isinstance(made.result, Object)
            groups = made.result.arguments.get("params", 0)
            if not isinstance(groups, Collection) or len(groups.items) != 2 or groups.element is not None:
                continue
            told.add(id(made.node))
            try:
                yield from self._of_groups(made, [_group(value, made.result) for value in groups.items])
            except NotKnown:
                continue

    def _of_groups(self, made: Event, groups: list[tuple[bool, Place, list[Named]]]) -> Iterator[Finding]:
        if sum(decays for decays, _, _ in groups) != 1:
            return
        (_, at, decayed), (_, other, free) = sorted(groups, key=lambda group: not group[0])
        small = [p for p in decayed if p.is_small]
        matrices = [p for p in free if not p.is_small]
        if decayed and len(small) == len(decayed) and matrices:
            message = "the groups are swapped: weight decay falls on norms and biases only, and on no matrix"
            fix = "exchange the two groups"
        elif small and any(p.is_small for p in free) and not matrices:
            message = (
                "weight decay falls on {count} norm and bias parameters (such as {example}), which the list of names "
                "was to leave out and does not match"
            )
            fix = "select by shape: decay for p.ndim >= 2, none for the rest"
        else:
            return
        yield self.finding(
            message,
            at=at.location,
            evidence=[evidence("the group without decay", other.location), evidence("the optimizer", made.location)],
            fix=fix,
            count=len(small),
            example=small[0].name,
        )


def _group(value: Value, optimizer: Object) -> tuple[bool, Place, list[Named]]:
    """A parameter group: whether it decays, where its parameters are selected, which they are. NotKnown otherwise."""
    if not isinstance(value, Table):
        raise NotKnown
    parameters, decay = value.items.get("params"), value.items.get("weight_decay")
    decay = decay or optimizer.arguments.keywords.get("weight_decay")
    if decay is None and not optimizer.type_name.endswith("AdamW"):
        raise NotKnown  # no decay by default
    if not isinstance(parameters, Collection) or parameters.place is None:
        raise NotKnown
    held = held_by(parameters)
    if len(held.networks) != 1 or not held.known:
        raise NotKnown
    every = list(named_parameters(held.networks[0]))
    chosen = selected(parameters.place.file, parameters.place.node, every)
    return not (isinstance(decay, Constant) and not decay.value), parameters.place, chosen
