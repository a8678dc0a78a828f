"""C111."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Failure, Run

#: classes and functions that only hold or rebuild plain values
_SAFE = (
    "argparse.Namespace",
    "collections.",
    "datetime.",
    "decimal.Decimal",
    "fractions.Fraction",
    "numpy.",
    "omegaconf.",
    "pathlib.",
    "types.SimpleNamespace",
    "uuid.UUID",
    "enum.",
    "torch.",
    "_codecs.encode",
)
_BUILTIN_VALUES = ("set", "frozenset", "slice", "range", "complex", "bytearray", "int", "float", "str", "list", "dict")
#: what runs commands, code, or reaches for anything at all
_DANGEROUS = (
    "os.", "posix.", "nt.", "subprocess.", "sys.", "socket.", "shutil.", "importlib.", "runpy.", "pty.", "ctypes.",
    "builtins.", "__builtin__.", "operator.", "code.", "webbrowser.", "pickle.", "urllib.", "requests.",
)  # fmt: skip


class WeightsOnlyRefused(Rule):
    """`torch.load` refuses a file because of the classes it names.

    ## What it finds
    The failure "Weights only load failed", with all classes and functions that the file names beyond what torch allows
    (read without running anything), whether they are known to be harmless, and how to load the file.

    ## Why it matters
    Since release 2.6 `torch.load` takes tensors and plain values only, since a pickle can run any code while it is
    read. Old checkpoints with an argparse namespace, NumPy scalars or a whole module in them are refused one class at a
    time; `weights_only=False` accepts them all, and whatever else is in there.

    ## Faulty
        torch.save({"model": model.state_dict(), "args": args}, path)       # args: argparse.Namespace
        checkpoint = torch.load(path)

    ## Sound
        torch.serialization.add_safe_globals([argparse.Namespace])
        checkpoint = torch.load(path)

    ## When it is silent
    For exceptions that the program catches and goes on after.

    ## References
    * https://docs.pytorch.org/docs/stable/notes/serialization.html#weights-only
    * https://docs.pytorch.org/docs/stable/generated/torch.load.html
    """

    code = "C111"
    name = "weights-only-refused"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for failure in run.failures:
            if failure.uncaught and failure.details.get("cause") == "refused":
                yield self._finding(run, failure)
                return

    def _finding(self, run: Run, failure: Failure) -> Finding:
        known = failure.details
        names: list[str] = known.get("globals", [])
        own = set(known.get("own", []))
        dangerous = [n for n in names if _is_dangerous(n) and n not in own]
        safe = [n for n in names if n not in own and n not in dangerous and _is_safe(n)]
        unknown = [n for n in names if n not in own and n not in dangerous and n not in safe]
        shown = []
        for words, group in (
            ("known to hold plain values only: {names}", safe),
            ("classes of your own program: {names}", sorted(own & set(names))),
            ("not known to us, look at what they do: {names}", unknown),
            ("can run code or commands: {names}", dangerous),
        ):
            if group:
                shown.append(evidence(words, names=", ".join(group)))
        return self.finding(
            "torch.load refuses {file}: it names {count_names} that weights_only does not allow"
            if names
            else "torch.load refuses {file} with weights_only",
            at=run.at(known.get("raised_site", failure.site)),
            evidence=shown,
            fix=_fix(names, dangerous),
            first_step=failure.step,
            file=known.get("file", "the file"),
            count_names=", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else ""),
            allowed=", ".join(n.removeprefix("__main__.") for n in names),
        )


def _fix(names: list[str], dangerous: list[str]) -> str:
    if dangerous:
        return (
            "Do not load this file unless you made it yourself: reading it with weights_only=False runs what it says."
        )
    if names:
        return (
            "torch.serialization.add_safe_globals([{allowed}]) before torch.load. Only for a file you trust: "
            "weights_only=False, which runs whatever the file says. Better: save state_dict() and plain values."
        )
    return "For a file you trust: weights_only=False, which runs whatever it says. Better: save state_dict()."


def _is_dangerous(name: str) -> bool:
    if name.startswith(("builtins.", "__builtin__.")):
        return name.rpartition(".")[2] not in _BUILTIN_VALUES
    return name.startswith(_DANGEROUS)


def _is_safe(name: str) -> bool:
    return name.startswith(_SAFE) or name.rpartition(".")[2] in _BUILTIN_VALUES
