"""Until something has come so far: how long that takes is not a test's affair."""

import time

HANG_S = 120  # what has not come so far by then never will


def wait_until(condition):
    end = time.monotonic() + HANG_S
    while time.monotonic() < end:
        if (value := condition()):
            return value
        time.sleep(0.01)
    raise AssertionError("it did not come so far")
