"""Many inside, or one alone."""

import threading

import pytest

from hybrid_memory.gate import Gate, passes


@pytest.fixture
def gate():
    return Gate()


def test_several_threads_are_inside_at_once(gate):
    together = threading.Barrier(3, timeout=10)

    def enter():
        with gate.passing():
            together.wait()

    threads = [threading.Thread(target=enter) for _ in range(2)]
    for one in threads:
        one.start()
    with gate.passing():
        together.wait()
    for one in threads:
        one.join(10)


def test_who_wants_to_be_alone_waits_for_those_inside(gate):
    order = []
    wants = threading.Event()

    def alone():
        wants.set()
        with gate.alone():
            order.append("alone")

    with gate.passing():
        thread = threading.Thread(target=alone)
        thread.start()
        assert wants.wait(10)
        order.append("inside")
    thread.join(10)
    assert order == ["inside", "alone"]


def test_who_is_alone_keeps_others_out(gate):
    order = []

    def enter():
        with gate.passing():
            order.append("entered")

    with gate.alone():
        thread = threading.Thread(target=enter)
        thread.start()
        order.append("alone")
    thread.join(10)
    assert order == ["alone", "entered"]


def test_a_thread_that_is_inside_enters_again_although_somebody_waits_to_be_alone(gate):
    done = threading.Event()

    def alone():
        with gate.alone():
            done.set()

    with gate.passing():
        thread = threading.Thread(target=alone)
        thread.start()
        while not gate._wanting:
            pass
        with gate.passing():
            assert not done.is_set()
    thread.join(10)
    assert done.is_set()


def test_a_thread_that_is_alone_may_call_what_passes(gate):
    with gate.alone(), gate.passing():
        pass
    with gate.alone():
        pass


def test_an_error_inside_lets_others_in(gate):
    class Thing:
        def __init__(self):
            self.gate = gate

        @passes
        def fail(self):
            raise KeyError

    with pytest.raises(KeyError):
        Thing().fail()
    with pytest.raises(KeyError), gate.alone():
        raise KeyError
    with gate.alone():
        pass
