"""Many inside, or one alone."""

import threading

import pytest

from hybrid_memory.service.rwlock import ReadWriteLock, shared


@pytest.fixture
def lock():
    return ReadWriteLock()


def test_several_threads_are_inside_at_once(lock):
    together = threading.Barrier(3, timeout=60)

    def enter():
        with lock.shared():
            together.wait()

    threads = [threading.Thread(target=enter) for _ in range(2)]
    for one in threads:
        one.start()
    with lock.shared():
        together.wait()
    for one in threads:
        one.join(60)


def test_who_wants_to_be_alone_waits_for_those_inside(lock):
    order = []
    wants = threading.Event()

    def exclusive():
        wants.set()
        with lock.exclusive():
            order.append("alone")

    with lock.shared():
        thread = threading.Thread(target=exclusive)
        thread.start()
        assert wants.wait(60)
        order.append("inside")
    thread.join(60)
    assert order == ["inside", "alone"]


def test_who_is_alone_keeps_others_out(lock):
    order = []

    def enter():
        with lock.shared():
            order.append("entered")

    with lock.exclusive():
        thread = threading.Thread(target=enter)
        thread.start()
        order.append("alone")
    thread.join(60)
    assert order == ["alone", "entered"]


def test_a_thread_that_is_inside_enters_again_although_somebody_waits_to_be_alone(lock):
    done = threading.Event()

    def exclusive():
        with lock.exclusive():
            done.set()

    with lock.shared():
        thread = threading.Thread(target=exclusive)
        thread.start()
        while not lock._waiting:
            pass
        with lock.shared():
            assert not done.is_set()
    thread.join(60)
    assert done.is_set()


def test_a_thread_that_is_alone_may_call_what_passes(lock):
    with lock.exclusive(), lock.shared():
        pass
    with lock.exclusive():
        pass


def test_an_error_inside_lets_others_in(lock):
    class Thing:
        def __init__(self):
            self.lock = lock

        @shared
        def fail(self):
            raise KeyError

    with pytest.raises(KeyError):
        Thing().fail()
    with pytest.raises(KeyError), lock.exclusive():
        raise KeyError
    with lock.exclusive():
        pass
