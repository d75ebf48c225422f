"""The promises of the ports, on moto and on DynamoDB Local."""

from recollect.contracts.idempotency import IdempotencyStoreContract
from recollect.contracts.items import ItemsContract
from recollect.contracts.items_with_events import ItemsWithEventsContract
from recollect.contracts.projections import FailedProjectionsContract, ProjectionsContract
from recollect.contracts.publisher import PublisherContract
from recollect.contracts.records import RecordsContract
from recollect.contracts.removal import ErasingContract, RejectingContract, RemovalContract
from recollect.contracts.timeline import TimelineContract


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
