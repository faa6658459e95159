"""The format of the tests, where a run has only so many seconds."""
import os
import time

import lit.formats
import lit.Test


class TimedFormat(lit.formats.ShTest):
    """Fails tests that would begin ANEC_TEST_SECONDS after the run, and ends those that
    are running then, so that the run still says what it has found. lit's --max-time begins
    anew with each test."""

    def __init__(self):
        super().__init__(execute_external=False)
        seconds = os.environ.get("ANEC_TEST_SECONDS")
        self.end = time.time() + int(seconds) if seconds else None

    def execute(self, test, lit_config):
        if self.end is not None:
            left = int(self.end - time.time())
            if left <= 0:
                return lit.Test.Result(lit.Test.UNRESOLVED, "The time of the run is over.\n")
            if lit_config.maxIndividualTestTime:
                lit_config.maxIndividualTestTime = min(
                    lit_config.maxIndividualTestTime, left)
        return super().execute(test, lit_config)
