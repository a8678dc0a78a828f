"""The way into a watched program: imported by `site` in every Python of a run, before the program's first line.

It gives the module name back to the `sitecustomize` that this Python has anyway (if any), then waits for
`import torch` and attaches the watch once torch has finished importing. Whatever goes wrong here costs the program one
line on stderr and nothing else.

What the program can see of it: `PYTHONPATH` in `os.environ` has one more entry in front (children started with another
Python command are watched through it, so it has to stay) and the `TORCHCALIPER_*` variables beside it, and until torch
is imported `sys.meta_path` begins with one more finder. `sys.path`, `sys.modules["sitecustomize"]`, the spec and the
loader of torch are those of plain Python.

Only the standard library is used, and of it only what is loaded at start-up anyway: the child may be another Python in
another environment, and most of them never see torch.
"""

from __future__ import annotations

import os
import sys

if False:  # typing.TYPE_CHECKING without the cost of importing typing
    from collections.abc import Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def _say(text: str) -> None:
    try:
        sys.stderr.write("torchcaliper: " + text + "\n")
        sys.stderr.flush()
    except Exception:  # no stderr (pythonw, a closed pipe): there is nobody to tell
        pass


def _could_not_attach(error: BaseException) -> None:
    _say("could not attach (" + type(error).__name__ + ": " + " ".join(str(error).split()) + "); going on unwatched")


def _step_aside(boot: str) -> None:
    """Leave `sys.path` as plain Python would have built it."""
    sys.path[:] = [entry for entry in sys.path if os.path.normcase(os.path.abspath(entry)) != os.path.normcase(boot)]
    sys.path_importer_cache.pop(boot, None)


def _chain() -> None:
    """Import the `sitecustomize` that this module stands in front of.

    What it raises goes on to `site`, which treats it as ever. When there is none, the ImportError of that name is what
    `site` expects and passes over; it also takes this module out of `sys.modules`.
    """
    sys.modules.pop("sitecustomize", None)
    __import__("sitecustomize")


def _import_watch(package: str, module: str) -> ModuleType:
    """Import a module of the torchcaliper in the folder `package`, without touching `sys.path`."""
    import importlib
    import importlib.util

    if "torchcaliper" not in sys.modules:
        init = os.path.join(package, "__init__.py")
        spec = importlib.util.spec_from_file_location("torchcaliper", init, submodule_search_locations=[package])
        if spec is None or spec.loader is None:
            raise ImportError("no torchcaliper at " + package)
        top = importlib.util.module_from_spec(spec)
        sys.modules["torchcaliper"] = top
        try:
            spec.loader.exec_module(top)
        except BaseException:
            sys.modules.pop("torchcaliper", None)
            raise
    return importlib.import_module(module)


class _Shadow:
    """Stands before `exec_module` of torch's loader, as an attribute of that loader, until the import begins."""

    def __init__(self, finder: _TorchFinder, loader: Loader) -> None:
        self.finder = finder
        self.loader = loader
        vars(loader)["exec_module"] = self

    def __call__(self, module: ModuleType) -> None:
        vars(self.loader).pop("exec_module", None)
        try:
            self.loader.exec_module(module)
        except BaseException:
            # The program may try again with the same spec.
            vars(self.loader)["exec_module"] = self
            raise
        self.finder.attach()

    # Python's own import frames are cut out of tracebacks and passed over by `warnings.warn(stacklevel=...)`. This one
    # stands in the middle of them and is to share their fate.
    __call__.__code__ = __call__.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")


class _TorchFinder:
    """Finds `torch` where everybody else finds it, and has the watch attached right after its import.

    The spec and its loader are the real ones; only the loader's `exec_module` is shadowed by an attribute of the
    instance, which is gone before torch's first line runs.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self.done = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch" or self.done:
            return None
        finders = list(sys.meta_path)
        # The finders before this one have already been asked and had nothing.
        after = finders[finders.index(self) + 1 :] if self in finders else finders
        for finder in after:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find is not None else None
            if spec is not None:
                loader = spec.loader
                if loader is None or isinstance(loader, type) or not hasattr(loader, "__dict__"):
                    self.leave()
                    _say("could not attach (torch is loaded by " + repr(loader) + "); going on unwatched")
                else:
                    _Shadow(self, loader)
                return spec
        return None

    def attach(self) -> None:
        if self.done:
            return
        self.leave()
        try:
            _import_watch(self.package, "torchcaliper.run.attach").install()
        except Exception as error:
            _could_not_attach(error)

    def leave(self) -> None:
        self.done = True
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]


def _at_exit(package: str, finder: _TorchFinder) -> None:
    """The first process of the run ends; say so if there was nothing to watch in any of its processes."""
    directory = os.environ.get("TORCHCALIPER_RUN", "")
    # Asked now: a fork of this process is not the first one, and the program may have put the variables elsewhere.
    if finder.done or os.environ.get("TORCHCALIPER_ROOT_PID") != str(os.getpid()):
        return
    try:
        _import_watch(package, "torchcaliper.run.unwatched").report(directory)
    except Exception as error:
        _say("no report (" + type(error).__name__ + ": " + " ".join(str(error).split()) + ")")


def _wait_for_torch(boot: str) -> None:
    if not os.environ.get("TORCHCALIPER_RUN"):
        return  # somebody kept only the PYTHONPATH of a watched program
    if not os.environ.get("TORCHCALIPER_ROOT_PID"):
        os.environ["TORCHCALIPER_ROOT_PID"] = str(os.getpid())
    package = os.path.dirname(os.path.dirname(boot))
    finder = _TorchFinder(package)
    if "torch" in sys.modules:  # by the sitecustomize before
        finder.attach()
        return
    sys.meta_path.insert(0, finder)
    if os.environ["TORCHCALIPER_ROOT_PID"] == str(os.getpid()):
        import atexit

        atexit.register(_at_exit, package, finder)


def _main() -> None:
    boot = os.path.dirname(os.path.abspath(__file__))
    _step_aside(boot)
    try:
        _chain()
    finally:
        try:
            _wait_for_torch(boot)
        except Exception as error:
            _could_not_attach(error)


_main()
