"""What a user can put right himself."""

from __future__ import annotations


class UsageError(Exception):
    """Wrong usage or unreadable input. Its message is one line; the command line prints it and exits with 2."""
