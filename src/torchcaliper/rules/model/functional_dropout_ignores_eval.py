"""M106."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Edit, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import RandomInEvaluation, Run
from torchcaliper.source.edits import inserted
from torchcaliper.source.layers import is_network_class
from torchcaliper.source.trace import Event, Reading
from torchcaliper.source.values import Object, Symbol, constant


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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for event in reading.events(*_DROPOUTS, "scaled_dot_product_attention", "make"):
            if id(event.node) in told or not _in_network(event):
                continue
            what = _ignores_mode(event)
            if what is None:
                continue
            told.add(id(event.node))
            edits = _edits(event) if event.name in _DROPOUTS else ()
            yield self.finding(
                "{what} drops values in eval() as well: it does not know the mode of the network",
                at=event.location,
                fix="build the nn.Dropout in __init__"
                if event.name == "make"
                else "pass training=self.training"
                if event.name in _DROPOUTS
                else "dropout_p=self.p if self.training else 0.0",
                edits=edits,
                what=what,
            )


_DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")


def _in_network(event: Event) -> bool:
    """Whether it is done within a network's forward: other methods may be for training only."""
    calls = event.context.calls()
    return any(call.function.name == "forward" and is_network_class(call.function.owner) for call in calls)


def _ignores_mode(event: Event) -> str | None:
    """What drops whatever the mode is; None when the mode decides, or when nothing is dropped."""
    made = event.result
    if event.name == "make":
        kind = made.type_name if isinstance(made, Object) else ""
        dropped = constant(made.arguments.get("p", 0), 0.5) if isinstance(made, Object) else 0
        called = event.context.condition is None and kind.startswith("torch.nn.") and "Dropout" in kind
        return f"nn.{kind.rpartition('.')[2]} built here" if called and dropped else None
    if not event.full.startswith("torch.nn.functional.") or not isinstance(made, Symbol):
        return None
    if event.name == "scaled_dot_product_attention":
        given = _argument(event, "dropout_p", 4)
        value = constant(made.options.get("dropout_p"))
        # A name or a formula may hold the mode: only a number, or an attribute that is one, is certain.
        certain = isinstance(given, ast.Constant | ast.Attribute) and isinstance(value, int | float) and value > 0
        return "scaled_dot_product_attention(dropout_p=...)" if certain else None
    p = made.options.get("p")
    if event.arguments.open or "training" in made.options or constant(p, 0.5) == 0:
        return None
    return f"F.{event.name}"


def _argument(event: Event, name: str, position: int) -> ast.expr | None:
    node = event.node
    if not isinstance(node, ast.Call):
        return None
    found = next((k.value for k in node.keywords if k.arg == name), None)
    return found or (node.args[position] if position < len(node.args) else None)


def _edits(event: Event) -> tuple[Edit, ...]:
    """`training=self.training` before the closing parenthesis, where `self` is at hand."""
    node, call = event.node, event.context.call
    if not isinstance(node, ast.Call) or call is None or isinstance(call.function.definition, ast.Lambda):
        return ()
    first = call.function.definition.args.args[:1]
    if not first or first[0].arg != "self" or call.function.owner is None:
        return ()
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    last = max(given, key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0))
    return (inserted(event.file, last, ", training=self.training"),)
