"""M102."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: optimizer steps before a verdict: by then an optimizer that takes the tensor by hand has been made
STEPS = 4


class UnregisteredTensor(Rule):
    """A learnable tensor is a plain attribute, not an `nn.Parameter`.

    ## What it finds
    A tensor that requires grad, is used by the module's forward and gets gradients, but is neither an `nn.Parameter`
    attribute nor a buffer: a bare tensor, a `Parameter` in a plain list, or a `Parameter` that an operation such as
    `.to(device)` turned into an ordinary tensor.

    ## Why it matters
    `parameters()` does not list it, so no optimizer updates it; `to()` leaves it behind and `state_dict()` loses it.

    ## Faulty
    ```python
    self.cross = torch.zeros(n, n, requires_grad=True)
    self.scale = nn.Parameter(torch.ones(n)).to(device)
    ```

    ## Sound
    ```python
    self.cross = nn.Parameter(torch.zeros(n, n))
    ```

    ## When it is silent
    An optimizer holds the tensor, it is updated by hand, it is registered under another name, or no gradient reaches
    it. Constant tensors, and tensors that a forward leaves behind, are no weights.

    ## References
    - https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
    - https://pytorch.org/docs/stable/generated/torch.nn.ParameterList.html
    """

    code = "M102"
    name = "unregistered-tensor"
    severity = Severity.WARNING
    explains = ("A106",)

    def judge_run(self, run: Run) -> Iterator[Finding]:
        if run.steps < STEPS:
            return
        for hidden in run.ledger.hidden_tensors:
            if not hidden.gradients or hidden.optimized or hidden.moved:
                continue
            subjects = {f"root:{hidden.root}", f"site:{hidden.site}"}
            if not hidden.leaf:
                message = (
                    "`self.{attribute}` of {owner} was computed from a Parameter, so it is an ordinary "
                    "tensor and not registered"
                )
                fix = "build the final tensor first and wrap it last: nn.Parameter(tensor)"
                subjects.add("history")  # its graph is part of every step's
            elif hidden.count > 1 or hidden.is_parameter:
                message = "`self.{attribute}` of {owner} holds {tensors} learnable tensors that are not registered"
                fix = "keep them in an nn.ParameterList (or nn.ParameterDict)"
            else:
                message = (
                    "`self.{attribute}` of {owner} is a bare tensor of shape {shape} that requires "
                    "grad, not an nn.Parameter"
                )
                fix = "self.{attribute} = nn.Parameter(...)"
            yield self.finding(
                message,
                at=run.at(hidden.site) or run.at(run.ledger.roots[hidden.root].made_site),
                evidence=(evidence("gradients reach it, but no optimizer holds it and state_dict() does not list it"),),
                fix=fix,
                subjects=subjects,
                attribute=hidden.attribute,
                owner=hidden.owner,
                tensors=hidden.count,
                shape=tuple(hidden.shape),
            )
