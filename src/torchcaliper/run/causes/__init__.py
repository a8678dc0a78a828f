"""Why an exception that ended the program came up, looked for while its frames and tensors are still there.

One file per kind of failure. Each has `explain(scene) -> dict | None`: plain values for `Failure.details`, with a
`cause` that names the kind, or None when the exception is of another kind.
"""
