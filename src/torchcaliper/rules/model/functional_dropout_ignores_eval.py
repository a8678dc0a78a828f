"""M106."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import RandomInEvaluation, Run


class FunctionalDropoutIgnoresEval(Rule):
    """Dropout that stays random after `eval()`.

    ## What it finds
    A call of `F.dropout` (or one of its relatives) without `training=`, `F.scaled_dot_product_attention` with a
    non-zero `dropout_p`, or an `nn.Dropout` built inside `forward`, that really dropped values while the module it
    is called from was in evaluation mode.

    ## Why it matters
    `F.dropout` has `training=True` as its default, and attention has no switch at all: `model.eval()` does not reach
    them. Evaluation and serving are then as noisy as training, and the same input gives another answer each time.

    ## Faulty
        def forward(self, x):
            return self.out(F.dropout(F.relu(self.hidden(x)), p=0.3))

    ## Sound
        def forward(self, x):
            return self.out(F.dropout(F.relu(self.hidden(x)), p=0.3, training=self.training))

    ## When it is silent
    When `training=True` is written out: Monte-Carlo dropout and always-on dropout are done on purpose that way. When
    the mode is switched for the draws (`model.train()`, or `train()` of the dropout layers only). When no module is
    at hand whose mode could be asked.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    """

    code = "M106"
    name = "functional-dropout-ignores-eval"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for call in run.modes.random:
            if not call.explicit:
                yield self._finding(run, call)

    def _finding(self, run: Run, call: RandomInEvaluation) -> Finding:
        if call.function.startswith("nn."):
            function = call.function
            why = "a layer built in forward() is in training mode whatever the mode of the model"
            fix = "Build the dropout layer once, in __init__, so that eval() reaches it."
        elif call.mode_given:
            function = f"F.{call.function}"
            why = "its argument training is True by default; eval() does not reach it"
            fix = "F.{short}(..., p={p:g}, training=self.training)"
        else:
            function = f"F.{call.function}"
            why = "it drops whenever dropout_p is not zero; eval() does not reach it"
            fix = "dropout_p={p:g} if self.training else 0.0"
        return self.finding(
            "{function} dropped values with p = {p:g} while {module} was in evaluation mode",
            at=run.at(call.site),
            evidence=[evidence(why)],
            fix=fix,
            count=call.times,
            first_step=call.first_step,
            subjects=[f"site:{call.site}"],
            function=function,
            short=call.function,
            p=call.p,
            module=call.module,
        )
