"""Generation by language models of transformers: whether padded prompts come with their mask."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.source.padding import padded_rows
from torchcaliper.source.trace import Event, Trace
from torchcaliper.source.values import Collection, Object, Symbol, Value, constant, name_of

#: what gives a network or a tensor back on another device
_MOVES = frozenset({"to", "call:to", "cuda", "call:cuda", "call:eval", "eval", "call:half"})


def padded_prompts(trace: Trace) -> Iterator[Event]:
    """Calls of `generate` with padded ids and no mask, whose padding has the number of the end token."""
    for event in trace.named("generate"):
        given = event.arguments
        if given.open or "attention_mask" in given.keywords or len(given.positional) > 1:
            continue
        ids = _unmoved(given.get("inputs", 0) or given.keywords.get("input_ids"))
        model = _unmoved(event.receiver)
        if not _is_of_transformers(model) or not isinstance(ids, Symbol):
            continue
        padded = id(ids) in padded_rows(trace) or any(id(part) in _tokenized(trace) for part in ids.inputs[:1])
        if padded and (_configures_both(model) or _gives_end_to_padding(trace)):
            yield event


def _unmoved(value: Value | None) -> Value | None:
    while isinstance(value, Symbol) and value.op in _MOVES and value.inputs:
        value = value.inputs[0]
    return value


def _is_of_transformers(model: Value | None) -> bool:
    if isinstance(model, Object):
        return model.type_name.startswith("transformers.")
    return isinstance(model, Symbol) and model.op == "call:from_pretrained" and _from_transformers(model)


def _from_transformers(made: Symbol) -> bool:
    return name_of(made.by).startswith("transformers.")


def _tokenized(trace: Trace) -> set[int]:
    """What tokenizers give for lists of texts that they pad, by id."""
    found: set[int] = set()
    for event in trace.named("call"):
        texts = event.arguments.get("text", 0)
        if constant(event.arguments.keywords.get("padding")) not in (True, "longest", "max_length"):
            continue
        if isinstance(texts, Collection) and (not texts.known or len(texts.items) > 1):
            moved = [e.result for e in trace.named("to") if e.receiver is event.result]
            found |= {id(event.result), *(id(result) for result in moved)}
    return found


def _configures_both(model: Value | None) -> bool:
    """Whether a model's configuration gives padding and the end of the text one number."""
    config = model.arguments.get("config", 0) if isinstance(model, Object) else None
    if not isinstance(config, Object):
        return False
    padding, end = (constant(config.arguments.keywords.get(f"{name}_token_id")) for name in ("pad", "eos"))
    return isinstance(padding, int) and padding == end


def _gives_end_to_padding(trace: Trace) -> bool:
    """`tokenizer.pad_token = tokenizer.eos_token`."""
    return any(
        event.attribute in ("pad_token", "pad_token_id")
        and isinstance(event.result, Symbol)
        and event.result.option("name") in ("eos_token", "eos_token_id")
        for event in trace.named("set")
    )
