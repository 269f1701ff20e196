"""A table of cases in one test, where a case is too small to be a test of its own."""

import functools
import inspect


def each(names, cases):
    """Run a test once over all ``cases``, like ``pytest.mark.parametrize``, and report every case that fails.

    pytest spends several milliseconds on each test, many times what a line of a table of words takes. Fixtures are shared by all
    cases, so parametrize a test that leaves traces in them.
    """
    keys = [name.strip() for name in names.split(",")]
    table = [tuple(case) if len(keys) > 1 else (case,) for case in cases]
    if not table:
        raise ValueError("a table without cases tests nothing")

    def decorate(test):
        @functools.wraps(test)
        def over_all(*args, **fixtures):
            failures = []
            for case in table:
                try:
                    test(*args, **dict(zip(keys, case, strict=True)), **fixtures)
                except Exception as error:  # noqa: BLE001 - every case has its turn
                    error.add_note(f"in the case {', '.join(map(repr, case))}")
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(table)} cases", failures)

        signature = inspect.signature(test)
        kept = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        over_all.__signature__ = signature.replace(parameters=kept)
        return over_all

    return decorate
