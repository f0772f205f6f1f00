"""Property tests try the same examples in every run, so that a red run is the change's own doing;
``make fuzz`` tries others each time."""

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("other", deadline=None, print_blob=True)
settings.load_profile("same")
