"""L103: a loss given probabilities, log-probabilities or scores where it expects another of them."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Failure, Run
from torchcaliper.run.record_kinds import PROBABILITIES, SIGMOID, LossUse
from torchcaliper.source import kinds
from torchcaliper.source.operations import CUTS
from torchcaliper.source.trace import Event, Reading
from torchcaliper.source.values import Symbol

LOOKS = 2
#: looks in which plain scores must have been positive: log-probabilities never are
POSITIVE = 3
_OUTSIDE = "all elements of input should be between 0 and 1"


class LossExpectsOtherKind(Rule):
    """A loss is given another kind of value than it is made for.

    ## What it finds
    `nll_loss` on probabilities or on plain scores (it wants log-probabilities), `kl_div` with probabilities as its
    first argument, or log-probabilities as its target without `log_target=True`, `binary_cross_entropy` on plain
    scores (which torch refuses where they leave [0, 1]).

    ## Why it matters
    Nothing is raised and the loss falls: `nll_loss` of a probability is minus that probability, whose gradient
    vanishes for samples that are wrong and certain; `kl_div` of probabilities becomes negative and is no divergence.

    ## Faulty
    ```python
    loss = F.nll_loss(F.softmax(scores, dim=1), y)
    loss = F.kl_div(F.softmax(student, dim=1), F.softmax(teacher, dim=1), reduction="batchmean")
    ```

    ## Sound
    ```python
    loss = F.nll_loss(F.log_softmax(scores, dim=1), y)
    loss = F.kl_div(F.log_softmax(student, dim=1), F.softmax(teacher, dim=1), reduction="batchmean")
    ```

    ## When it is silent
    For log-probabilities made in any way: `log_softmax`, `log(softmax)`, `logsigmoid`, mixtures, flows. For a value of
    unknown origin that never was positive.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.KLDivLoss.html
    """

    code = "L103"
    name = "loss-expects-other-kind"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for use in run.kinds.losses:
            if use.name in ("nll_loss", "kl_div"):
                yield from self._log_probabilities(run, use)
        for failure in run.failures:
            if failure.call == "loss" and failure.uncaught and _OUTSIDE in failure.message:
                yield self._refused(run, failure)

    def _log_probabilities(self, run: Run, use: LossUse) -> Iterator[Finding]:
        wrong = use.kinds.get(PROBABILITIES, 0) + use.kinds.get(SIGMOID, 0)
        facts: list[Evidence] = [evidence("the loss; it stood at {value}", run.at(use.site), value=use.stood_at())]
        site, what, fix = use.made_site, "", "use log_softmax in the place of softmax"
        if wrong >= LOOKS and 2 * wrong >= use.looks:
            if site is None and not run.complete and use.looks < 8:
                return
            what = f"{use.made_by or 'softmax'} output, which are probabilities"
        elif use.kinds.get("", 0) == use.looks and use.positive >= POSITIVE and 2 * use.positive >= use.looks:
            what, fix = "plain scores", "put log_softmax in front of the loss (or use cross_entropy)"
            facts.append(
                evidence("values up to {high:.3g}: a log-probability is never above 0", high=use.input_high or 0.0)
            )
        elif use.name == "kl_div" and use.target_low is not None and use.target_low < -1e-4 and use.looks >= LOOKS:
            if use.log_target:
                return
            yield self.finding(
                "kl_div is given log-probabilities as its target (values down to {low:.3g}) without log_target=True",
                at=run.at(use.site),
                evidence=facts,
                fix="pass probabilities as the target, or log_target=True",
                count=use.times,
                first_step=use.first_step,
                subjects=[f"loss:{use.site}"],
                low=use.target_low,
            )
            return
        else:
            return
        yield self.finding(
            "{loss} expects log-probabilities and is given {what}",
            at=run.at(site if site is not None else use.site),
            evidence=facts,
            fix=fix,
            count=use.times,
            first_step=use.first_step,
            subjects=[f"loss:{use.site}"],
            loss=use.name,
            what=what,
        )

    def _refused(self, run: Run, failure: Failure) -> Finding:
        return self.finding(
            "binary_cross_entropy expects probabilities and is given values outside of [0, 1]",
            at=run.at(failure.site),
            evidence=[evidence("torch says: {message}", message=failure.message.partition("\n")[0])],
            fix="use binary_cross_entropy_with_logits, which takes plain scores (or apply a sigmoid before)",
            first_step=failure.step,
            subjects=[f"loss:{failure.site}"],
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[object] = set()
        for loss in reading.events("nll_loss", "kl_div", "binary_cross_entropy"):
            if loss.context.grad is False:
                continue
            for finding in self._of_call(loss):
                if finding.location not in told:
                    told.add(finding.location)
                    yield finding

    def _of_call(self, loss: Event) -> Iterator[Finding]:
        given = loss.value("input")
        kind = kinds.kind_of(given)
        wants = "probabilities" if loss.name == "binary_cross_entropy" else "log-probabilities"
        scores = kinds.plain_scores(given)
        made: Symbol | None = None
        if scores is not None:
            made, what = scores, "plain scores"
        elif kind is not None and wants == "log-probabilities" and kind[0] != kinds.LOG_PROBABILITIES:
            made, what = kind[1], f"{kind[1].op} output"
        elif kind is not None and wants == "probabilities" and kind[0] == kinds.LOG_PROBABILITIES:
            made, what = kind[1], "log-probabilities"
        if made is not None:
            at = loss.location if scores is not None else kinds.place_of(made)
            yield self.finding(
                "{loss} expects {wants} and is given {what}",
                at=at,
                evidence=[
                    evidence("the loss", loss.location)
                    if scores is None
                    else evidence("made here", kinds.place_of(made))
                ],
                fix=_FIXES[loss.name],
                subjects=[f"loss:{loss.location}"],
                loss=loss.name,
                wants=wants,
                what=what,
            )
        if loss.name == "kl_div" and "log_target" not in _options(loss):
            target = kinds.kind_of(loss.value("target"))
            if target is not None and target[0] == kinds.LOG_PROBABILITIES and target[1].op not in CUTS:
                yield self.finding(
                    "kl_div is given log-probabilities as its target without log_target=True",
                    at=loss.location,
                    evidence=[evidence("the target is made here", kinds.place_of(target[1]))],
                    fix="log_target=True, or pass the target's probabilities",
                    subjects=[f"loss:{loss.location}"],
                )


_FIXES = {
    "nll_loss": "log_softmax in front of nll_loss, or cross_entropy on the plain scores",
    "kl_div": "log_softmax in the place of softmax for the first argument",
    "binary_cross_entropy": "binary_cross_entropy_with_logits (nn.BCEWithLogitsLoss) on the plain scores",
}


def _options(loss: Event) -> set[str]:
    made = loss.result
    return set(made.options) if isinstance(made, Symbol) else set()
