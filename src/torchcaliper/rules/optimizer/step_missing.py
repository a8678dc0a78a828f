"""O103."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: gradients computed and thrown away this often: no rehearsal lasts so long
TIMES = 16


class StepMissing(Rule):
    """Gradients are computed again and again, and optimizer.step() is never called.

    ## What it finds
    An optimizer whose parameters get gradients from many backward passes, and that never steps; the parameters keep
    their values. Often a scheduler (or a scaler) is stepped in its place.

    ## Why it matters
    Nothing is learned; the loss only fluctuates with the batches.

    ## Faulty
    ```python
    optimizer.zero_grad()
    loss.backward()
    scheduler.step()
    ```

    ## Sound
    ```python
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    ```

    ## When it is silent
    The parameters move (manual SGD, another optimizer); no optimizer holds them (saliency, gradient penalties); an
    input of the forward requires grad; the network is in evaluation mode; the gradients were never cleared in a run
    that ended early (accumulation).

    ## References
    - https://pytorch.org/docs/stable/optim.html#taking-an-optimization-step
    - https://pytorch.org/tutorials/beginner/basics/optimization_tutorial.html
    """

    code = "O103"
    name = "step-missing"
    severity = Severity.ERROR
    explains = ("O104", "O105", "O106", "O107", "O111", "A103")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for number, optimizer in enumerate(run.ledger.optimizers):
            if (
                optimizer.steps
                or not optimizer.reached
                or not optimizer.trained_mode
                or optimizer.inputs_differentiated
            ):
                continue
            if not optimizer.compared or optimizer.unmoved < optimizer.compared:
                continue
            lost = [u for u in run.protocol.unstepped if u.optimizer == number and not u.moved]
            times = sum(u.times for u in lost)
            if times < TIMES and not (run.complete and run.backwards >= TIMES):
                continue
            backward = next((u.site for u in lost), optimizer.backward_site)
            scheduler = next((u.scheduler_site for u in lost if u.scheduler_site is not None), None)
            if scheduler is None:
                scheduler = next(
                    (s.step_site for s in run.protocol.schedulers if s.optimizer == number and s.calls >= TIMES), None
                )
            times = max(times, optimizer.reached)
            proof = [
                evidence("{optimizer} is made here and never stepped", run.at(optimizer.site), optimizer=optimizer.name)
            ]
            if scheduler is not None:
                proof.insert(0, evidence("the gradients are computed here", run.at(backward)))
                message = (
                    "the scheduler is stepped, {optimizer}.step() is not: gradients of {times:,} "
                    "backward passes moved nothing"
                )
            else:
                message = "{optimizer}.step() is never called: gradients of {times:,} backward passes moved nothing"
            yield self.finding(
                message,
                at=run.at(scheduler if scheduler is not None else backward),
                evidence=proof,
                fix="call optimizer.step() after backward()"
                + (", before scheduler.step()" if scheduler is not None else ""),
                count=times,
                first_step=0,
                subjects=(f"optimizer:{number}",),
                optimizer=optimizer.name,
                times=times,
            )
