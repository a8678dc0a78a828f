"""P101: GradScaler.update() is missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Edit, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.edits import line_after
from torchcaliper.source.steps import is_scaler_object, steps_of
from torchcaliper.source.trace import Event, Reading
from torchcaliper.source.values import Constant, options


class ScalerNotUpdated(Rule):
    """`scaler.step()` without `scaler.update()`.

    ## What it finds
    The scaler stepped an optimizer and is asked to step it (or to unscale its gradients) again without `update()` in
    between. torch refuses that at the second iteration, at the line of the second call; the missing line is told here.

    ## Why it matters
    `update()` closes an iteration: it adapts the scale and forgets which optimizers were unscaled and stepped.

    ## Faulty
    ```python
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    ```

    ## Sound
    ```python
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    ```

    ## When it is silent
    Several optimizers stepped before one `update()`; disabled scalers.

    ## References
    * [Typical mixed precision training](https://docs.pytorch.org/docs/stable/notes/amp_examples.html#typical-mixed-precision-training)
    """

    code = "P101"
    name = "scaler-not-updated"
    severity = Severity.ERROR
    explains = ("O108", "O104")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for index, scaler in enumerate(run.protocol.scalers):
            if not scaler.refused_call:
                continue
            call = "scaler.step()" if scaler.refused_call == "step" else "scaler.unscale_()"
            yield self.finding(
                "scaler.update() is missing after scaler.step(): torch refuses the next {call}.",
                at=run.at(scaler.refused_step_site),
                evidence=(
                    evidence(
                        "{call} was refused here; {updates} calls of update() for {steps} steps",
                        run.at(scaler.refused_site),
                        call=call,
                        updates=scaler.updates,
                        steps=scaler.steps,
                    ),
                ),
                fix="add scaler.update() after scaler.step(optimizer)",
                first_step=scaler.refused_step,
                subjects=(f"scaler:{index}", f"site:{scaler.refused_step_site}", f"site:{scaler.refused_site}"),
                call=call,
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            updated = [r for e in trace.named("update") for r in options(e.receiver) if is_scaler_object(r)]
            for step in steps_of(trace):
                scaler = step.scaler
                if scaler is None or step.loop is None or id(scaler) in told or scaler.escaped or not trace.complete:
                    continue
                enabled = scaler.arguments.get("enabled")
                if scaler in updated or not (enabled is None or (isinstance(enabled, Constant) and enabled.value)):
                    continue
                told.add(id(scaler))
                yield self.finding(
                    "scaler.update() is missing after scaler.step(): torch refuses the next step.",
                    at=step.event.location,
                    fix="add scaler.update() after scaler.step(optimizer)",
                    edits=_update(step.event),
                )


def _update(step: Event) -> list[Edit]:
    """`scaler.update()` on a line of its own below the step."""
    node = step.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return []
    edit = line_after(step.file, node, f"{ast.unparse(node.func.value)}.update()")
    return [edit] if edit is not None else []
