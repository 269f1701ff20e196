"""What is made of a store's contents: kept until something changes, and parts that live as long as the service."""

from hybrid_memory.requests import WriteRequest


class Counts:
    """A part that counts what it is told."""

    def __init__(self, service):
        self.service, self.told = service, []

    def forget(self):
        self.told.append("forget")

    def close(self):
        self.told.append("close")


def test_a_value_is_made_again_only_after_a_change(service, scope):
    made = []

    def make():
        made.append(len(made))
        return made[-1]

    assert [service.derived.value(scope, "count", make) for _ in range(3)] == [0, 0, 0]
    service.write(scope, WriteRequest(content="Ada lives in Porto."))
    assert service.derived.value(scope, "count", make) == 1


def test_a_part_is_made_once_and_knows_its_service(service):
    part = service.derived.part(Counts, service)

    assert service.derived.part(Counts, service) is part
    assert part.service is service


def test_a_part_forgets_with_the_service_and_so_do_values(service, scope):
    part = service.derived.part(Counts, service)
    made = [service.derived.value(scope, "count", object) for _ in range(2)]
    service.derived.forget()

    assert part.told == ["forget"]
    assert made[0] is made[1]
    assert service.derived.value(scope, "count", object) is not made[0]


def test_a_part_is_closed_with_the_service(service):
    part = service.derived.part(Counts, service)
    service.close()

    assert part.told == ["close"]
