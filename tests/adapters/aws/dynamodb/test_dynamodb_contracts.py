"""The promises of the ports, on moto and on DynamoDB Local."""

from recollect.contracts.conditional_stores import IdempotencyStoreContract
from recollect.contracts.items import ItemsContract
from recollect.contracts.projections import FailedProjectionsContract, ProjectionsContract
from recollect.contracts.removal import ErasingContract, RejectingContract, RemovalContract
from recollect.contracts.services import PublisherContract
from recollect.contracts.timeline import TimelineContract
from recollect.contracts.timeline_records import ItemsWithEventsContract, RecordsContract


class TestTimeline(TimelineContract):
    pass


class TestProjections(ProjectionsContract):
    pass


class TestIdempotency(IdempotencyStoreContract):
    pass


class TestPublisher(PublisherContract):
    pass


class TestItems(ItemsContract):
    pass


class TestErasing(ErasingContract):
    pass


class TestRejecting(RejectingContract):
    pass


class TestRemoval(RemovalContract):
    pass


class TestRecords(RecordsContract):
    pass


class TestItemsWithEvents(ItemsWithEventsContract):
    pass


class TestFailedProjections(FailedProjectionsContract):
    pass
