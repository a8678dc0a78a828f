"""X101: a network exported while it is in training mode."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.layers import layer_option, layer_type, parts, plain
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Object, constant, options


class ExportedInTrainingMode(Rule):
    """Dropout or batch statistics are active in the exported graph.

    ## What it finds
    `torch.jit.trace` or `torch.export.export` of a network with dropout or normalisation over the batch that is in
    training mode at that moment: `eval()` was not called, or `train()` was called after it.

    ## Why it matters
    What is traced is what runs: the exported graph drops values at random and normalises by the statistics of each
    batch. Its answers differ from call to call, and `eval()` on the result changes nothing.

    ## Faulty
    ```python
    train(model)
    torch.jit.trace(model, example).save("model.pt")
    ```

    ## Sound
    ```python
    model.eval()
    torch.jit.trace(model, example).save("model.pt")
    ```

    ## When it is silent
    For networks without such layers, in evaluation mode, or whose mode the source does not tell; for
    `torch.onnx.export`, which switches to evaluation mode by itself, and `torch.jit.script`, which keeps the mode.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.jit.trace.html
    """

    code = "X101"
    name = "exported-in-training-mode"
    severity = Severity.ERROR

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for event in trace.named("trace", "export"):
                if event.full not in ("torch.jit.trace", "torch.export.export") or id(event.node) in told:
                    continue
                if event.training is not True or not trace.is_program:
                    continue
                given = event.arguments.get("func" if event.name == "trace" else "mod", 0)
                active = [p for option in options(given) if isinstance(o := plain(option), Object) for p in parts(o)]
                active = [part for part in active if _depends_on_mode(part)]
                if not active:
                    continue
                told.add(id(event.node))
                yield self.finding(
                    "the network is exported in training mode: {layers} stay active in the graph",
                    at=event.location,
                    evidence=[evidence("such a layer", active[0].place.location if active[0].place else None)],
                    fix="model.eval() before the export",
                    layers=", ".join(sorted({layer_type(part) for part in active})),
                )


def _depends_on_mode(part: Object) -> bool:
    kind = layer_type(part)
    if kind.startswith("Dropout"):
        return bool(constant(layer_option(part, "p"), 0.5) != 0)
    return kind.startswith("BatchNorm")
