"""A101."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Location, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Cut, LeafLoss, Run
from torchcaliper.source.barriers import barred_layers
from torchcaliper.source.graphs import reach
from torchcaliper.source.steps import backwards, loss_of
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Symbol

#: steps without any gradient before a verdict: the first may be a rehearsal or a warm-up
STEPS = 4
#: of the backward passes at a line, the share that reached no parameter; the rest may be real losses
SHARE = 0.9
#: what an operation that cuts is called in a sentence
_WORDS = {
    "item": "`.item()` makes a plain number of it",
    "float": "`float()` makes a plain number of it",
    "int": "`int()` makes a plain number of it",
    "tolist": "`.tolist()` makes plain numbers of it",
    "numpy": "`.numpy()` takes it out of torch",
    "array": "NumPy takes it out of torch",
    "detach": "`.detach()` cuts it off",
    "data": "`.data` cuts it off",
    "tensor": "`torch.tensor()` makes a new tensor without history",
}


class GraphCut(Rule):
    """Between the parameters and the loss the autograd graph is cut.

    ## What it finds
    Parameters that an optimizer holds and that the training forward uses, but that never get a gradient, because a
    value on the way to the loss left the graph: `.item()`, `.detach()`, `.data`, `.numpy()`, a new `torch.tensor(...)`,
    `argmax`, a comparison. Also a loss that was rebuilt from numbers and made to require grad, so that `backward()`
    runs and reaches nothing.

    ## Why it matters
    The program runs, the loss is printed, and nothing (or only the part behind the cut) learns.

    ## Faulty
    ```python
    log_probs.append(dist.log_prob(action).item())
    loss = -(torch.tensor(log_probs) * advantage).sum()
    loss.requires_grad = True
    ```

    ## Sound
    ```python
    log_probs.append(dist.log_prob(action))
    loss = -(torch.stack(log_probs) * advantage).sum()
    ```

    ## When it is silent
    The parameters get a gradient in another way (a detached target, a discriminator's step, stop-gradient); no
    optimizer holds them; they are frozen, loaded, run under `no_grad` or updated by hand (teachers, target networks);
    the cut value is only printed or counted.

    ## References
    - https://pytorch.org/docs/stable/generated/torch.Tensor.detach.html
    - https://pytorch.org/docs/stable/generated/torch.Tensor.item.html
    - https://pytorch.org/docs/stable/notes/autograd.html
    """

    code = "A101"
    name = "graph-cut"
    severity = Severity.ERROR
    explains = ("M104", "O103", "O104", "O111", "A103", "A117")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        told = False
        for finding in self._rebuilt(run):
            told = True
            yield finding
        if not told:
            yield from self._between(run)
        yield from self._raised(run)

    def _rebuilt(self, run: Run) -> Iterator[Finding]:
        """backward() runs on a tensor from which no parameter can be reached, and no parameter of "
        "an optimizer gets any."""
        starved = [
            i
            for i, o in enumerate(run.ledger.optimizers)
            if o.steps >= STEPS and not o.reached and o.looks >= STEPS and o.groups
        ]
        if not starved:
            return
        for leaf in run.ledger.leaf_losses:
            if leaf.failed or leaf.times < STEPS or leaf.times < SHARE * leaf.of:
                continue
            proof = [self._cut_evidence(run, run.ledger.cuts[c]) for c in leaf.cuts[:4]]
            proof.append(evidence("backward() reaches no parameter from here", run.at(leaf.site)))
            optimizer = run.ledger.optimizers[starved[0]]
            at = run.at(leaf.made_site)
            if at is None:
                cuts = [c for i in leaf.cuts if (c := run.ledger.cuts[i]).site is not None]
                at = run.at(cuts[-1].site) if cuts else run.at(leaf.site)
            yield self.finding(
                "the loss is {what}: no parameter of {optimizer} got a gradient in {steps:,} steps",
                at=at,
                evidence=proof,
                fix="compute the loss from the network's output itself, with torch operators all "
                "the way, and drop `requires_grad`",
                count=leaf.times,
                first_step=leaf.first_step,
                subjects=self._subjects(run, starved, leaf),
                what=f"a tensor made by {leaf.made_by}" if leaf.made_by else "a tensor without history",
                optimizer=optimizer.name,
                steps=optimizer.steps,
            )
            return

    @staticmethod
    def _subjects(run: Run, optimizers: list[int], leaf: LeafLoss) -> set[str]:
        parameters = {i for o in optimizers for g in run.ledger.optimizers[o].groups for i in g.parameters}
        roots = {run.ledger.parameters[i].root for i in parameters}
        return {
            *(f"optimizer:{o}" for o in optimizers),
            *(f"parameter:{i}" for i in parameters),
            *(f"root:{r}" for r in roots if r is not None),
            f"site:{leaf.site}",
        }

    def _between(self, run: Run) -> Iterator[Finding]:
        """Some parameters are used and get nothing; a value computed from them left the graph on "
        "its way to the loss."""
        starved = {
            i
            for i, p in enumerate(run.ledger.parameters)
            if p.registered and p.trainable and p.called and not p.gradients and p.looks >= STEPS
            if not (p.moved or p.loaded or p.called_without_grad)
            if any(run.ledger.optimizers[o].steps >= STEPS for o in p.optimizers)
        }
        for cut in run.ledger.cuts:
            mine = starved & set(cut.parameters)
            if not mine or not cut.in_loss or cut.operation == "no_grad":
                continue
            starved -= mine
            owners = sorted({run.ledger.parameters[i].module for i in mine})
            optimizers = {o for i in mine for o in run.ledger.parameters[i].optimizers}
            yield self.finding(
                "the graph is cut here: {how}, and {parameters} parameters before it never get a gradient",
                at=run.at(cut.site),
                evidence=(
                    evidence(
                        "used in every forward, held by {optimizer}, without gradient: {owners}",
                        owners=", ".join(owners[:4]) + (", ..." if len(owners) > 4 else ""),
                        optimizer=run.ledger.optimizers[min(optimizers)].name,
                    ),
                ),
                fix="keep the value in the graph (leave the cut out), or take these parameters out "
                "of the optimizer if they are not to learn",
                first_step=cut.first_step,
                subjects={
                    *(f"parameter:{i}" for i in mine),
                    *(f"optimizer:{o}" for o in optimizers),
                    *(f"root:{r}" for i in mine if (r := run.ledger.parameters[i].root) is not None),
                },
                how=_WORDS.get(cut.operation, f"`{cut.operation}` has no gradient"),
                parameters=len(mine),
            )

    def _raised(self, run: Run) -> Iterator[Finding]:
        """backward() raised because nothing requires grad, and a cut explains it."""
        for failure in run.failures:
            if failure.call != "backward" or not failure.uncaught or "does not require grad" not in failure.message:
                continue
            for leaf in run.ledger.leaf_losses:
                cuts = [c for i in leaf.cuts if (c := run.ledger.cuts[i]).operation != "no_grad" and c.parameters]
                if not leaf.failed or leaf.site != failure.site or not cuts:
                    continue
                most = max(len(c.parameters) for c in cuts)
                cut = [c for c in cuts if len(c.parameters) == most][-1]
                yield self.finding(
                    "the graph is cut here: {how}, so backward() has nothing to go back through",
                    at=run.at(cut.site),
                    evidence=(
                        evidence("raised here: {message}", run.at(failure.site), message=failure.message),
                        *(self._cut_evidence(run, c) for c in cuts if c is not cut),
                    ),
                    fix="keep the value in the graph: compute the loss from the network's output "
                    "with torch operators all the way",
                    first_step=failure.step,
                    subjects={f"site:{failure.site}", *(f"parameter:{i}" for i in cut.parameters)},
                    how=_WORDS.get(cut.operation, f"`{cut.operation}` has no gradient"),
                )
                return

    @staticmethod
    def _cut_evidence(run: Run, cut: Cut) -> Evidence:
        return evidence(
            "{how}; it was computed from {count} parameters",
            run.at(cut.site),
            how=_WORDS.get(cut.operation, f"`{cut.operation}` has no gradient"),
            count=len(cut.parameters),
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            if not trace.complete:
                continue
            for backward in backwards(trace):
                found = reach(loss_of(backward))
                if found.cuts and not found.parameters and not found.unknown:
                    yield from self._cut(found.cuts[-1], backward.location, told)
            for barred in barred_layers(trace):
                if barred.by_cut:
                    yield from self._cut(barred.barrier, barred.step.location, told)

    def _cut(self, cut: Symbol, backward: Location, told: set[int]) -> Iterator[Finding]:
        if cut.place is None or id(cut.place.node) in told:
            return
        told.add(id(cut.place.node))
        yield self.finding(
            "the graph is cut here: {how}, and no gradient passes from the loss to the parameters before it",
            at=cut.place.location,
            evidence=[evidence("what waits for the gradient", backward)],
            fix="compute the loss from the network's output itself, with torch operators all the way",
            how=_how(cut),
        )


def _how(cut: Symbol) -> str:
    if cut.op in ("tensor", "as_tensor", "new_tensor", "from_numpy", "Tensor", "FloatTensor"):
        return "a new tensor is made of numbers"
    if cut.op in ("argmax", "argmin", "round", "floor", "ceil", "sign", "long", "int", "bool"):
        return f"{cut.op} has no gradient"
    if cut.op.startswith("call:") or cut.op in ("numpy", "tolist", "item"):
        return f"{cut.op.removeprefix('call:')} leaves torch"
    if cut.op in ("detach", "detach_", "data"):
        return f".{cut.op} takes the value out of the graph"
    return f"{cut.op} has no gradient"
