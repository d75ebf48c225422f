"""The promises of the ports, on moto and on DynamoDB Local."""

from recollect.contracts.conditional_stores import IdempotencyStoreContract
from recollect.contracts.items import ItemsContract
from recollect.contracts.namespaced_items import NamespacedItemsContract
from recollect.contracts.projections import FailedProjectionsContract, ProjectionsContract
from recollect.contracts.rate_limiter import RateLimiterContract
from recollect.contracts.removal import ErasingContract, RejectingContract, RemovalContract
from recollect.contracts.segments_of_events import SegmentsOfEventsContract
from recollect.contracts.services import PublisherContract
from recollect.contracts.session_log import SessionLogContract
from recollect.contracts.timeline import TimelineContract
from recollect.contracts.timeline_records import ItemsWithEventsContract, RecordsContract
from recollect.contracts.usage import UsageCountsContract

TestTimeline = TimelineContract
TestProjections = ProjectionsContract
TestSegmentsOfEvents = SegmentsOfEventsContract
TestIdempotency = IdempotencyStoreContract
TestRateLimiter = RateLimiterContract
TestUsageCounts = UsageCountsContract
TestPublisher = PublisherContract
TestItems = ItemsContract
TestNamespacedItems = NamespacedItemsContract
TestSessionLog = SessionLogContract
TestErasing = ErasingContract
TestRejecting = RejectingContract
TestRemoval = RemovalContract
TestRecords = RecordsContract
TestItemsWithEvents = ItemsWithEventsContract
TestFailedProjections = FailedProjectionsContract
