"""A111: gradients that fall or rise by orders of magnitude with depth."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_numerics import GradientDepth

#: looks that the sizes are medians over
_LOOKS = 4
#: powers of ten between the first layer and the last, along the line that fits them all best
_VANISHED, _EXPLODED = 5.0, 5.0
#: a trend over the layers, not a single one that is off (Pearson's correlation of size and depth)
_TREND = 0.8
#: looks in a row with a gradient that is rounding noise
_FAINT_LOOKS = 5


class VanishingOrExploding(Rule):
    """Gradients fall or rise by orders of magnitude with depth.

    ## What it finds
    A network whose gradients, layer by layer from the output to the input, shrink or grow by five powers of ten or
    more, steadily and in every step looked at. And a weight that gets rounding noise for a gradient because its way to
    the loss leads through a normalisation over a single element, which is 1 whatever goes in.

    ## Why it matters
    The first layers of the former hardly learn, or learn by leaps; the latter never does.

    ## Faulty
    ```python
    layers = [m for _ in range(30) for m in (nn.Linear(64, 64), nn.Sigmoid())]
    ```

    ## Sound
    ```python
    layers = [m for _ in range(30) for m in (nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU())]   # or with residuals
    ```

    ## When it is silent
    Biases before a normalisation; single layers that are off; frozen layers and layers that got no gradient;
    layers that start at zero; networks of fewer than six layers; a few steps only.

    ## References
    * Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks, 2010
    * He et al., Delving Deep into Rectifiers, 2015, arXiv:1502.01852
    """

    code = "A111"
    name = "vanishing-or-exploding"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for depth in run.numerics.depths:
            if depth.looks >= _LOOKS and len(depth.sizes) == len(depth.names):
                yield from self._over_depth(run, depth)
        yield from self._closed(run)

    def _over_depth(self, run: Run, depth: GradientDepth) -> Iterator[Finding]:
        sizes = depth.sizes
        if max(sizes) - min(sizes) < _VANISHED:
            return
        trend = statistics.correlation(range(len(sizes)), sizes)
        rise = statistics.linear_regression(range(len(sizes)), sizes).slope * (len(sizes) - 1)
        vanished = rise > 0
        if abs(rise) < (_VANISHED if vanished else _EXPLODED) or abs(trend) < _TREND:
            return
        yield self.finding(
            "gradients {what} by a factor of 1e{decades:.0f} from the output to the input of {root} ({layers} layers)",
            at=run.at(depth.sites[0]) or run.at(run.ledger.roots[depth.root].made_site),
            evidence=(
                evidence(
                    "root mean square of the gradient, median of {looks} steps: {begin:.1e} in {one}, {end:.1e} in "
                    "{other}",
                    looks=depth.looks,
                    begin=10 ** sizes[0],
                    one=depth.names[0],
                    end=10 ** sizes[-1],
                    other=depth.names[-1],
                ),
            ),
            fix="use residual connections and normalisation, ReLU-like activations instead of sigmoid or tanh, and an "
            "initialisation that keeps the variance (kaiming_normal_, xavier_normal_)",
            first_step=depth.step,
            subjects={f"root:{depth.root}", *(f"optimizer:{o}" for o in depth.optimizers)},
            what="shrink" if vanished else "grow",
            decades=abs(rise),
            root=run.ledger.roots[depth.root].name,
            layers=len(sizes),
        )

    def _closed(self, run: Run) -> Iterator[Finding]:
        faint = {f.parameter: f for f in run.numerics.faint if f.looks >= _FAINT_LOOKS}
        for constant in run.numerics.constants:
            mine = [faint[i] for i in constant.parameters if i in faint]
            if constant.looks < _FAINT_LOOKS or not mine:
                continue
            parameter = run.ledger.parameters[mine[0].parameter]
            yield self.finding(
                "{operator} over a single element is 1 whatever goes in, so {parameter} gets no gradient but rounding "
                "noise",
                at=run.at(constant.site),
                evidence=(
                    evidence(
                        "its gradient is {ratio:.0e} of the median of {others} weights, in each of {looks} steps "
                        "looked at",
                        run.at(parameter.made_site),
                        ratio=mine[0].ratio,
                        others=mine[0].others,
                        looks=mine[0].looks,
                    ),
                ),
                fix="normalise only where there is more than one element (top-k with k > 1), or use the value itself",
                first_step=0,
                subjects={f"parameter:{f.parameter}" for f in mine},
                operator="a normalisation" if constant.operator == "div" else "a softmax",
                parameter=parameter.name,
            )
