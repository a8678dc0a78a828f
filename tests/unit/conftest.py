"""Settings of the unit tests."""

from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("torchcaliper", deadline=None)
settings.load_profile("torchcaliper")
