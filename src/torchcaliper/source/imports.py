"""Import statements: outside names, and files of the project."""

from __future__ import annotations

import ast

from torchcaliper.source.file import SourceFile
from torchcaliper.source.interpreter import GivenUp, Interpreter
from torchcaliper.source.operations import canonical
from torchcaliper.source.scope import Scope
from torchcaliper.source.values import External, Module, Value


def import_module(run: Interpreter, alias: ast.alias, node: ast.AST) -> None:
    """`import a.b as c`."""
    name = alias.name
    if alias.asname:
        file = run.project.imported(run.file, name, 0)
        run.bind(alias.asname, Module(file) if file is not None else External(canonical(name)))
        return
    first = name.partition(".")[0]
    file = run.project.imported(run.file, first, 0)
    if file is not None:
        run.bind(first, Module(file))
        # `import package.module`: the module can be reached through the package.
        run.project.imported(run.file, name, 0)
    else:
        run.bind(first, External(first))


def import_from(run: Interpreter, node: ast.ImportFrom) -> None:
    """`from a import b as c`, relative ones too, and `from a import *`."""
    module = node.module or ""
    file = run.project.imported(run.file, module, node.level)
    for alias in node.names:
        if alias.name == "*":
            if file is not None:
                for name, exported in module_scope(run, file).names.items():
                    if not name.startswith("_"):
                        run.bind(name, exported)
            elif module and not node.level:
                run.scope.top.starred.append(canonical(module))
            continue
        value = None if file is None else member(run, file, alias.name)
        if value is None:
            dots = "." * node.level
            separator = "." if module else ""
            inner = run.project.imported(run.file, f"{module}{separator}{alias.name}", node.level)
            value = (
                Module(inner) if inner is not None else External(canonical(f"{dots}{module}{separator}{alias.name}"))
            )
        run.bind(alias.asname or alias.name, value)


def member(run: Interpreter, file: SourceFile, name: str) -> Value | None:
    """A module-level name of a file, or a file of the package that it begins."""
    value = module_scope(run, file).names.get(name)
    if value is not None:
        return value
    path = run.project.paths.get(id(file))
    if path is not None and path.name == "__init__.py":
        inner = run.project.imported(file, name, 1)
        return Module(inner) if inner is not None else None
    return None


def module_scope(run: Interpreter, file: SourceFile) -> Scope:
    """The module-level names of a file, after following it once without writing down what happens."""
    known = run.project.scopes.get(id(file))
    if known is not None:
        return known
    # Registered first: files may import each other in a circle.
    scope = Scope(file)
    run.project.scopes[id(file)] = scope
    from torchcaliper.source.interpreter import Frame
    from torchcaliper.source.statements import follow
    from torchcaliper.source.trace import Context

    kept = run.file, run.scope, run.frame, run.context, run.recording
    run.file, run.scope, run.frame, run.context, run.recording = file, scope, Frame(), Context(), False
    try:
        follow(run, [s for s in file.tree.body if not _is_main_guard(s)])
    except GivenUp:
        # The definitions at the end of a file count, however long its beginning.
        run.steps = 0
        follow(run, [s for s in file.tree.body if isinstance(s, ast.FunctionDef | ast.ClassDef)])
    finally:
        run.file, run.scope, run.frame, run.context, run.recording = kept
    return scope


def _is_main_guard(statement: ast.stmt) -> bool:
    """`if __name__ == "__main__":`, and loops: what a script does, not what it defines."""
    if isinstance(statement, ast.For | ast.While | ast.With):
        return True
    return (
        isinstance(statement, ast.If)
        and isinstance(statement.test, ast.Compare)
        and isinstance(statement.test.left, ast.Name)
        and statement.test.left.id == "__name__"
    )
