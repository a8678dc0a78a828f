"""V105."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Failure, Run


class DeviceMismatch(Rule):
    """Tensors on two devices meet in one operator.

    ## What it finds
    The failure "Expected all tensors to be on the same device" and its kin, told at the line that made the tensor or
    layer that was left behind: a tensor made in `forward` without `device=`, an attribute that is no buffer and so did
    not follow `model.to(device)`, a batch that was not moved, a model or layer that never was.

    ## Why it matters
    The message names two devices but no tensor, and torch notices it deep inside a layer.

    ## Faulty
        def forward(self, x):
            noise = torch.randn(x.shape)            # on the CPU, wherever x is
            return self.fc(x + noise)

    ## Sound
        def forward(self, x):
            noise = torch.randn_like(x)
            return self.fc(x + noise)

    ## When it is silent
    Numbers (0-dimensional tensors on the CPU) go with every device. Exceptions that the program catches and goes on
    after are not told.

    ## References
    * https://docs.pytorch.org/docs/stable/notes/cuda.html#best-practices
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
    """

    code = "V105"
    name = "device-mismatch"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for failure in run.failures:
            if failure.uncaught and failure.details.get("cause") == "devices":
                yield self._finding(run, failure)
                return

    def _finding(self, run: Run, failure: Failure) -> Finding:
        known = failure.details
        raised = known.get("raised_site", failure.site)
        shown = [evidence("they meet here: {message}", run.at(raised), message=failure.message.partition("\n")[0])]
        if "left" not in known:
            return self.finding(
                "tensors on {devices} meet in one operator",
                at=run.at(raised),
                evidence=shown,
                fix="Move all of them to one device: x = x.to(device).",
                first_step=failure.step,
                devices=" and ".join(known.get("named", [])) or "two devices",
            )
        text, fix = _words(known)
        made = known.get("made_site")
        return self.finding(
            text,
            at=run.at(made if made is not None else raised),
            evidence=shown,
            fix=fix,
            first_step=failure.step,
            left=known["left"],
            device=known["left_device"],
            main=known["main_device"],
            owner=known.get("owner", ""),
            shape=known["shape"],
            caller=known.get("caller", ""),
            attribute=known.get("attribute", ""),
            other=known.get("other") or "the rest",
        )


def _words(known: dict[str, object]) -> tuple[str, str]:
    kind = known.get("kind")
    if kind in ("parameter", "buffer"):
        if known.get("caller"):
            return (
                "{owner} is called by {caller} but not registered in it: it stayed on {device} when {caller} was moved",
                "Make it a registered part: an attribute, nn.ModuleList or nn.ModuleDict.",
            )
        if known.get("whole"):
            return (
                "{owner} is on {device} and was never moved to {main}, where its input is",
                "Move it once, before the optimizer is made: model.to(device).",
            )
        return (
            "the layer {owner} is on {device}, while the rest of its network is on {main}",
            "Make the layer before the network is moved, or move it too: layer.to(device).",
        )
    if kind == "attribute":
        return (
            "`self.{attribute}` of {owner} is a plain tensor on {device}: it does not follow the module to {main}",
            "Register it: self.register_buffer('{attribute}', ...); then .to(device) moves it and state_dict saves it",
        )
    return (
        "`{left}` {shape} is on {device}, while `{other}` is on {main}",
        "Make it on the right device (device=x.device, torch.zeros_like(x)), or move it: {left} = {left}.to(device).",
    )
