"""Property tests are deterministic, and a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("eigenwell", deadline=None, derandomize=True)
settings.load_profile("eigenwell")
