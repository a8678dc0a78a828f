"""V104."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.report.bytes import size
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Failure, Run

#: share of the reserved memory that is free but in pieces, from which fragmentation is called the cause
_FRAGMENTED = 0.2
#: share of the device that others hold, from which they are called the cause
_OTHERS = 0.25


class OutOfMemoryExplained(Rule):
    """Out of memory: who holds it.

    ## What it finds
    An out-of-memory failure, told at the line that asked for the memory, with what the allocator had given out, what it
    kept reserved, how much of that was free in pieces, what other processes hold, and the largest tensors alive at that
    moment by name: parameters, gradients, optimizer state, tensors of the program.

    ## Why it matters
    The remedy depends on who holds the memory: a smaller batch helps against activations, not against optimizer state,
    a leak, fragmentation or another process.

    ## Faulty
        distances = (x[:, None] - y[None]).pow(2).sum(-1)       # [60000, 60000, 784]: 11 TB

    ## Sound
        distances = torch.cdist(x, y)

    ## When it is silent
    For exceptions that the program catches and goes on after (a search for the largest batch size).

    ## References
    * https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management
    * https://docs.pytorch.org/docs/stable/torch_cuda_memory.html
    """

    code = "V104"
    name = "out-of-memory-explained"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for failure in run.failures:
            if failure.uncaught and failure.details.get("cause") == "memory":
                yield self._finding(run, failure)
                return

    def _finding(self, run: Run, failure: Failure) -> Finding:
        known = failure.details
        requested = known.get("requested")
        message, fix = _cause(known)
        return self.finding(
            message,
            at=run.at(known.get("raised_site", failure.site)),
            evidence=[*_figures(known), *_holders(known)],
            fix=fix,
            first_step=failure.step,
            device=known.get("device", "the device"),
            requested=size(requested) if requested else "memory",
            capacity=size(known["capacity"]) if "capacity" in known else "",
            unused=size(known.get("unused", 0)),
            others=size(known.get("others", 0)),
        )


def _cause(known: dict[str, Any]) -> tuple[str, str]:
    requested, capacity = known.get("requested", 0), known.get("capacity", 0)
    if capacity and requested > capacity:
        return (
            "one tensor of {requested} is asked for here; {device} has {capacity} in all",
            "Look at the shapes of this line: often a broadcast of two large tensors. Work in blocks, or with an "
            "operator that does not build the product (torch.cdist, scaled_dot_product_attention).",
        )
    if capacity and known.get("others", 0) > _OTHERS * capacity:
        return (
            "{device} is full: {requested} more did not fit, and other processes hold {others}",
            "Look with nvidia-smi for other processes (often a crashed run that still lives), or use another device.",
        )
    unused = known.get("unused", 0)
    if unused > requested and unused > _FRAGMENTED * known.get("reserved", unused):
        return (
            "{device} has no piece of {requested}: {unused} are reserved and free, but in pieces",
            "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; keep shapes alike from step to step (pad, sort by "
            "length).",
        )
    if known.get("device") == "cpu":
        return (
            "{requested} of host memory are asked for here, more than there is",
            "Look at the shapes of this line: often a broadcast of two large tensors. Work in blocks.",
        )
    if known.get("in_backward"):
        return (
            "{device} is full: {requested} more did not fit in backward, where gradients come on top of activations",
            "Use a smaller batch with accumulation, autocast, or activation checkpointing.",
        )
    return (
        "{device} is full: {requested} more did not fit",
        "Free the largest holders below; else a smaller batch, autocast, or activation checkpointing.",
    )


def _figures(known: dict[str, Any]) -> list[Evidence]:
    parts = []
    for key, words in (
        ("allocated", "{} allocated by tensors"),
        ("reserved", "{} reserved by torch"),
        ("unused", "{} of it free in pieces"),
        ("others", "{} held by other processes"),
        ("free", "{} free"),
        ("capacity", "{} in all"),
    ):
        if known.get(key):
            parts.append(words.format(size(known[key])))
    return [evidence("{figures}", figures=", ".join(parts))] if parts else []


def _holders(known: dict[str, Any]) -> list[Evidence]:
    shown = []
    kinds = sorted(known.get("by_kind", {}).items(), key=lambda item: -item[1])
    if kinds:
        held = ", ".join(f"{what} {size(count)}" for what, count in kinds)
        shown.append(evidence("tensors alive on it: {held}", held=held))
        hidden = known.get("allocated", 0) - sum(count for _, count in kinds)
        if hidden > 0.1 * known.get("allocated", 0):
            shown.append(
                evidence(
                    "{hidden} more is kept by autograd (activations) or by the operator itself", hidden=size(hidden)
                )
            )
    largest = known.get("largest", [])
    if largest:
        shown.append(evidence("the largest: {largest}", largest="; ".join(f"{size(n)} {text}" for n, text in largest)))
    return shown
