"""A107."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import ForwardKind, Run
from torchcaliper.source.graphs import depends_on, holds_graph, pieces
from torchcaliper.source.layers import parts
from torchcaliper.source.steps import backwards, loss_of
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Object

#: forwards whose graph nobody used; a single one, at the end of a script, costs nothing worth a word
_FORWARDS = 2


class EvaluationBuildsGraph(Rule):
    """Evaluation records autograd graphs that nobody uses.

    ## What it finds
    Forwards of a trained network in evaluation mode with gradients enabled whose outputs no backward ever went
    through; or the same in training mode on batches of a DataLoader that is only evaluated.

    ## Why it matters
    Each forward keeps the activations of every layer for a backward that never comes: evaluation needs as much memory
    as training, and all of it at once when the outputs are collected. It is slower, too.

    ## Faulty
        model.eval()
        outputs = [model(batch) for batch in loader]

    ## Sound
        model.eval()
        with torch.no_grad():
            outputs = [model(batch) for batch in loader]

    ## When it is silent
    When gradients are taken of the outputs (saliency maps, adversarial examples), when the network is not trained
    here (teachers, target networks, frozen backbones), and for a single forward.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html
    * https://docs.pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory
    """

    code = "A107"
    name = "evaluation-builds-graph"
    severity = Severity.WARNING
    explains = ("A105", "V103")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        trained = {t.root for t in run.modes.trained if t.optimizers or t.steps or t.evaluation_steps}
        for kind in run.modes.forwards:
            if kind.root in trained and kind.grad and kind.graph_kept >= _FORWARDS and _is_evaluation(kind):
                yield self._finding(run, kind)

    def _finding(self, run: Run, kind: ForwardKind) -> Finding:
        root = run.ledger.roots[kind.root]
        shown = [evidence("gradients were enabled, the outputs required grad, and no backward followed")]
        if kind.mode_site is not None and not kind.training:
            shown.append(evidence("evaluation mode was set here", run.at(kind.mode_site)))
        return self.finding(
            "{root} is evaluated with gradients on: {n} forwards recorded a graph that nobody used",
            at=run.at(kind.site),
            evidence=shown,
            fix="with torch.no_grad(): around the evaluation, or @torch.no_grad() above its function",
            count=kind.graph_kept,
            first_step=kind.first_step,
            subjects=[f"root:{kind.root}"],
            root=root.name,
            n=kind.graph_kept,
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            if trace.is_program and trace.complete:
                yield from self._in_program(trace)

    def _in_program(self, trace: Trace) -> Iterator[Finding]:
        losses = [loss_of(b) for b in backwards(trace)]
        told: set[int] = set()
        for event in _evaluations(trace):
            network = event.receiver
            assert isinstance(network, Object)
            if id(network) in told or not holds_graph(event.result):
                continue
            if not any(depends_on(loss, {id(part) for part in parts(network)}) for loss in losses):
                continue  # never trained here
            if any(depends_on(loss, pieces(event.result)) for loss in losses) or _is_differentiated(trace, event):
                continue
            told.add(id(network))
            yield self.finding(
                "{network} is evaluated with gradients on: each forward records a graph that nobody uses",
                at=event.location,
                evidence=[evidence("in evaluation mode, and its result leads to no backward()")],
                fix="with torch.no_grad(): around the evaluation, or @torch.no_grad() above its function",
                network=network.type_name,
            )


def _is_evaluation(kind: ForwardKind) -> bool:
    if not kind.training:
        return kind.consumed == 0 and (kind.mode_set > 0 or kind.longest_run >= _FORWARDS)
    # In training mode only the data can show it. With dropout or BatchNorm the mode is the worse fault (M115).
    return not kind.layers and kind.foreign_loader >= _FORWARDS and kind.longest_run >= _FORWARDS


def _evaluations(trace: Trace) -> Iterator[Event]:
    """Calls of whole networks in evaluation mode, in a loop, with gradients on."""
    for event in trace.named("enter"):
        context = event.context
        inner = any(call.function.name == "forward" for call in context.calls())
        if event.training is not False or context.grad is not True or context.loop is None or inner:
            continue
        if isinstance(event.receiver, Object):
            yield event


def _is_differentiated(trace: Trace, event: Event) -> bool:
    """Whether torch.autograd.grad or a hook asks for the gradients."""
    for other in trace.events:
        if other.full.startswith("torch.autograd.") and depends_on(other.result, pieces(event.result)):
            return True
        if other.name in ("register_hook", "register_full_backward_hook", "requires_grad_", "retain_grad"):
            return True
        if other.attribute == "requires_grad" and other.name == "set":
            return True
    return False
