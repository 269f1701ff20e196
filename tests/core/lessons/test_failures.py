"""What a failed command printed: about the code at hand, or about the call; and the line that names the error."""

from tests.tables import each

from hybrid_memory.lessons.failures import LONGEST_SIGNATURE, is_about_the_code, signature_of

OF_THE_CODE = [
    "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed, 3 passed in 0.12s",
    "src/app.ts:12:3 - error TS2322: Type 'string' is not assignable to type 'number'.",
    "error[E0308]: mismatched types\n --> src/main.rs:4:5",
    "./main.go:12:2: undefined: foo",
    "Tests:       2 failed, 10 passed, 12 total",
    "--- FAIL: TestAdd (0.00s)",
    "Found 3 errors in 1 file (checked 12 source files)",
    "app/models.py:10:1: F401 'os' imported but unused",
]
OF_THE_CALL = [
    "bash: npm: command not found",
    "npm error This project is configured to use pnpm",
    "fatal: The current branch x has no upstream branch.",
    "error: externally-managed-environment",
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "pytest: error: unrecognized arguments: --parallel",
    'psql: error: connection to server on socket failed: FATAL: role "root" does not exist',
    "make: *** No rule to make target 'tests'.  Stop.",
]


@each("error", OF_THE_CODE)
def test_a_test_a_type_or_a_style_is_about_the_code(error):
    assert is_about_the_code(error)


@each("error", OF_THE_CALL)
def test_a_wrong_call_is_not_about_the_code(error):
    assert not is_about_the_code(error)


def test_the_line_that_names_the_error_is_its_signature():
    error = "Exit code 1\nResolving packages...\nnpm error ERESOLVE could not resolve /home/ada/shop/a/b\nnpm error"
    assert signature_of(error) == "npm error ERESOLVE could not resolve <path>"


def test_what_the_shell_says_of_itself_is_no_part_of_a_signature():
    assert signature_of("Exit code 127\n/bin/bash: line 4: npm: command not found") == "npm: command not found"


def test_a_failure_without_a_word_has_none():
    assert signature_of("Exit code 1\n\n") == ""


def test_a_signature_is_short_and_does_nothing_to_a_terminal():
    found = signature_of("error: \x1b[31m" + "x" * 1000)
    assert len(found) <= LONGEST_SIGNATURE
    assert "\x1b" not in found
