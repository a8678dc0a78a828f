"""Show the difference when a comparison of the harness fails."""

import pytest

pytest.register_assert_rewrite("harness")
