#!/usr/bin/env python3
"""Prints what cargo-nextest's counts do not say, from its JUnit report: tests that were skipped, parts of tests that did not run, and
flaky tests.

A test that prints a line "skipped: REASON" counts as skipped, not as passed. A line "left out: REASON" names a part of a test that did
not run. A flaky test failed and then passed. That is a failure of the run, unless PoCL ended each failed attempt by its own assertion.

usage: tests/report_tests.py JUNIT.XML"""

import collections
import re
import sys
import xml.etree.ElementTree as ElementTree

# PoCL 3.1 may do so where threads use one kernel for the first time at once.
POCL_GAVE_UP = "pocl_release_dlhandle_cache: Assertion"
SETUP = "@setup-script"


def name_of(case):
    return f"{case.get('classname')} {case.get('name')}"


def lines(case, start):
    """Returns the lines of a test's output that have `start`, from there on, each once."""
    output = "\n".join(case.findtext(tag) or "" for tag in ("system-out", "system-err"))
    return list(dict.fromkeys(re.findall(rf"{start}.*", output)))


def failed_attempts(case):
    """Returns the attempts of a flaky test that failed. Other tests have none."""
    return [*case.iter("flakyFailure"), *case.iter("flakyError")]


def is_pocls_fault(case):
    """Tells whether PoCL ended each failed attempt of a flaky test."""
    return all(POCL_GAVE_UP in "".join(attempt.itertext()) for attempt in failed_attempts(case))


def report(cases):
    """Prints one line a reason and one a flaky test, then counts. Returns names of flaky tests that are not PoCL's fault."""
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = [(case, said) for case in cases if case not in failed and (said := lines(case, "skipped: "))]
    left_out = collections.Counter(line for case in cases for line in lines(case, "left out: "))
    for line, count in (left_out + collections.Counter(said[0] for _, said in skipped)).items():
        print(f"{count:4} × {line}")
    flaky = [case for case in cases if failed_attempts(case)]
    for case in flaky:
        print(f"FLAKY {name_of(case)}: {'PoCL ended it by an assertion' if is_pocls_fault(case) else 'it failed, then passed'}")
    passed = len(cases) - len(failed) - len(skipped)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped, {len(flaky)} flaky")
    return [name_of(case) for case in flaky if not is_pocls_fault(case)]


def main():
    suites = ElementTree.parse(sys.argv[1]).getroot().iter("testsuite")
    cases = [case for suite in suites if not suite.get("name").startswith(SETUP) for case in suite.iter("testcase")]
    if not cases:
        sys.exit("report_tests.py: expected results of tests, got none")
    if unexplained := report(cases):
        sys.exit(f"report_tests.py: flaky: {', '.join(unexplained)}")


if __name__ == "__main__":
    main()
