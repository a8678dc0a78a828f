"""A117."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Failure, Run


class NothingRequiresGrad(Rule):
    """`backward()` of a tensor that no trainable parameter leads to.

    ## What it finds
    The failure "element 0 of tensors does not require grad and does not have a grad_fn", with the reason: every
    parameter of the network is frozen, a tensor that is to be trained was made without `requires_grad`, gradients are
    switched off around the call, or the value was made anew and not computed from the network. A cut of the graph
    (A101) or a forward without gradients (A102) is told by these rules instead.

    ## Why it matters
    There is nothing to go back through, so nothing can be learned; the message names no line.

    ## Faulty
        for p in model.parameters():
            p.requires_grad = False
        loss = criterion(model(x), y)
        loss.backward()

    ## Sound
        for p in model.backbone.parameters():
            p.requires_grad = False

    ## When it is silent
    For exceptions that the program catches and goes on after.

    ## References
    * https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation
    """

    code = "A117"
    name = "nothing-requires-grad"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for failure in run.failures:
            if failure.uncaught and failure.details.get("cause") == "no-grad":
                yield self._finding(run, failure)
                return

    def _finding(self, run: Run, failure: Failure) -> Finding:
        known = failure.details
        name, made = known.get("name") or "the tensor", known.get("made_site")
        site, fix = made, "Compute the loss from the network's output with torch operators all the way."
        reason = "`{name}` was not computed from anything that requires grad, so backward() has nothing to go through"
        if known.get("frozen"):
            site = known["frozen_site"] if known.get("frozen_site") is not None else made
            reason = "all {parameters} parameters of {frozen} are frozen, and `{name}` has no graph for backward()"
            fix = "Freeze only the part that is not to learn; thaw the rest with requires_grad_(True)."
        elif known.get("leaf"):
            site = known["leaf_site"] if known.get("leaf_site") is not None else made
            reason = "`{leaf}` was made without requires_grad, so backward() from `{name}` has nothing to go through"
            fix = "Make `{leaf}` with requires_grad=True, or call {leaf}.requires_grad_() once it has its values."
        elif known.get("grad_enabled") is False:
            site = known["guard_site"] if known.get("guard_site") is not None else failure.site
            reason = "gradients are switched off here, so `{name}` has no graph and backward() nothing to go through"
            fix = "Take the forward and the loss out of no_grad/inference_mode."
        shown = [evidence("backward() refused it here: {message}", run.at(failure.site), message=failure.message)]
        if made is not None and made != site:
            shown.append(evidence("`{name}` was made here", run.at(made), name=name))
        return self.finding(
            reason,
            at=run.at(site if site is not None else failure.site),
            evidence=shown,
            fix=fix,
            first_step=failure.step,
            subjects=[f"site:{failure.site}", *_disabled(run, failure)],
            name=name,
            frozen=known.get("frozen", ""),
            parameters=known.get("frozen_parameters", 0),
            leaf=known.get("leaf", ""),
        )


def _disabled(run: Run, failure: Failure) -> list[str]:
    """The networks whose forward is known to have run without gradients: A102 tells of them."""
    return [f"root:{d.root}" for d in run.modes.disabled if d.backward_site == failure.site]
