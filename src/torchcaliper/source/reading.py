"""From a parsed file to what source rules judge: each way into it, followed."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchcaliper.source.attributes import bound
from torchcaliper.source.calling import call_function, call_method, make
from torchcaliper.source.file import SourceFile
from torchcaliper.source.interpreter import GivenUp, Interpreter
from torchcaliper.source.layers import is_network_class
from torchcaliper.source.project import Project
from torchcaliper.source.relevance import is_relevant
from torchcaliper.source.statements import follow
from torchcaliper.source.trace import Reading, Trace
from torchcaliper.source.values import Arguments, Class, Constant, Function, Object


def read_program(project: Project, file: SourceFile) -> Reading:
    """Follow a file's module-level code, then every function and class of it that this did not reach."""
    reading = Reading(file)
    entered: set[int] = set()
    program = Trace(file, "<module>", True)
    run = Interpreter(project, file, program)
    run.calls_until = 3_000 + 6 * file.text.count("\n")
    scope = run.scope
    scope.names["__name__"] = Constant("__main__")
    scope.names["__file__"] = run.symbol("name", file.tree)
    _safely(run, lambda: follow(run, file.tree.body))
    entered |= run.entered
    reading.traces.append(program)
    for value in list(scope.names.values()):
        if isinstance(value, Function) and value.place is not None and value.place.file is file:
            reading.functions.append(value)
        elif isinstance(value, Class) and value.scope.file is file:
            reading.classes.append(value)
    # A definition below the point where following was given up, or behind a branch not taken, is read all the same.
    _define_rest(run, file, reading)
    for made in reading.classes:
        _read_class(project, file, made, reading, entered)
    for function in reading.functions:
        definition = function.definition
        if not isinstance(definition, ast.Lambda) and id(definition) not in entered and is_relevant(file, definition):
            trace = Trace(file, function.name, False)
            run = Interpreter(project, file, trace)
            run.scope = function.scope
            run.calls_until = _allowance(function.definition)
            _safely(run, lambda f=function, r=run: call_function(r, f, Arguments(), f.definition))  # type: ignore[misc]
            entered |= run.entered
            reading.traces.append(trace)
    return reading


def _define_rest(run: Interpreter, file: SourceFile, reading: Reading) -> None:
    known = {id(f.definition) for f in reading.functions} | {id(c.definition) for c in reading.classes}
    missing = [
        s
        for s in file.tree.body
        if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and id(s) not in known
        and s.name not in run.scope.names
    ]
    if not missing:
        return
    run.steps, run.recording, run.frame.ended = 0, False, None
    _safely(run, lambda: follow(run, missing))
    for statement in missing:
        value = run.scope.names.get(statement.name)
        if isinstance(value, Function):
            reading.functions.append(value)
        elif isinstance(value, Class):
            reading.classes.append(value)


def _read_class(project: Project, file: SourceFile, made: Class, reading: Reading, entered: set[int]) -> None:
    methods = [m for m in made.members.values() if isinstance(m, Function) and m.owner is made]
    if all(id(m.definition) in entered for m in methods) or not is_relevant(file, made.definition):
        return
    trace = Trace(file, made.name, False)
    run = Interpreter(project, file, trace)
    run.scope = made.scope.parent or run.scope
    run.calls_until = _allowance(made.definition)

    def every_method() -> None:
        # An instance of which nothing is known but the class: its arguments, its mode.
        instance = make(run, made, Arguments(open=True), made.definition)
        if not isinstance(instance, Object):
            return
        instance.context = None
        network = is_network_class(made)
        for method in sorted(methods, key=lambda m: m.name != "forward"):
            if id(method.definition) in entered or id(method.definition) in run.entered:
                continue
            if method.name == "forward" and network:
                call_method(run, instance, "forward", Arguments(), method.definition)
            else:
                found = bound(run, method, instance, method.definition)
                if isinstance(found, Function):
                    call_function(run, found, Arguments(), method.definition)

    _safely(run, every_method)
    entered |= run.entered
    reading.traces.append(trace)


def _allowance(definition: ast.AST) -> int:
    """The steps after which a part of a library does not follow what it calls any more.

    Without this, a file of many small functions over a large machinery costs the machinery as many times.
    """
    lines: int = getattr(definition, "end_lineno", 0) - getattr(definition, "lineno", 0) + 1
    return 40 + 3 * lines


def _safely(run: Interpreter, work: Callable[[], object]) -> None:
    """Follow as far as it goes: too long, or too deeply nested, and the trace says that it is not complete."""
    try:
        work()
    except (GivenUp, RecursionError):
        run.trace.complete = False
