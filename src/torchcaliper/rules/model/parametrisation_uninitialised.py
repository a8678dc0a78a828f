"""M120."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run, UninitialisedState

_LAZY = "Attempted to use an uninitialized parameter"
_NAMED = 3


class ParametrisationUninitialised(Rule):
    """A parametrisation used before the first training forward has filled its state.

    ## What it finds
    A layer under `torch.nn.utils.spectral_norm` called in evaluation mode while its vectors u and v are still those
    drawn at random: they do not belong to the weight. And parameters of a lazy layer used before its first forward.

    ## Why it matters
    `spectral_norm` divides the weight by u'Wv, which is the largest singular value only after power iteration, and
    power iteration runs in training forwards only. With random vectors it is any number, often near zero and of either
    sign: the layer's output is scaled by it. A lazy parameter has no shape yet: nothing can be counted or initialised.

    ## Faulty
        net = nn.Sequential(torch.nn.utils.spectral_norm(nn.Linear(8, 8)), nn.ReLU())
        net.eval()
        reference = net(x)

    ## Sound
        net = nn.Sequential(torch.nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8)), nn.ReLU())
        net.eval()
        reference = net(x)          # its constructor does fifteen power iterations

    ## When it is silent
    After a training forward or a loaded state, for copies of a trained network, and for
    `parametrizations.spectral_norm` and `weight_norm`, which start with the right values.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.spectral_norm.html
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.spectral_norm.html
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.modules.lazy.LazyModuleMixin.html
    """

    code = "M120"
    name = "parametrisation-uninitialised"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        by_root: dict[tuple[int, int | None], list[UninitialisedState]] = {}
        for state in run.modes.uninitialised:
            by_root.setdefault((state.root, state.site), []).append(state)
        for (root, site), states in by_root.items():
            worst = max(states, key=lambda s: abs(s.norm / s.estimate) if s.estimate else 0.0)
            names = ", ".join(s.module for s in states[:_NAMED])
            yield self.finding(
                "{names}: spectral norm used in evaluation mode before any training forward; its vectors are random",
                at=run.at(site),
                evidence=[
                    evidence(
                        "{module}: the weight is divided by {estimate:.3g}; its largest singular value is {norm:.3g}",
                        module=worst.module,
                        estimate=worst.estimate,
                        norm=worst.norm,
                    )
                ],
                fix="Use torch.nn.utils.parametrizations.spectral_norm, or do a forward in training mode first.",
                count=states[0].times,
                subjects=[f"root:{root}"],
                names=names + (f" and {len(states) - _NAMED} more" if len(states) > _NAMED else ""),
            )
        for failure in run.failures:
            if failure.message.startswith(_LAZY):
                yield self.finding(
                    "a parameter of a lazy layer is used before the first forward has given it a shape",
                    at=run.at(failure.site),
                    evidence=[evidence("torch says: {text}", text=failure.message.partition(". ")[0])],
                    fix="Call the model once on an example batch before this line.",
                    first_step=failure.step,
                )
                return
