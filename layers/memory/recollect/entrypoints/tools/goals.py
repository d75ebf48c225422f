"""The tool `track_goal`."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from recollect.entrypoints.tools.parameters import Parameters
from recollect.entrypoints.tools.tool import Invocation, Outcome, Tool
from recollect.summaries.goals import LONGEST_FREQUENCY, LONGEST_GOAL, GoalStatus


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


class TrackGoal(Parameters):
    """Of `track_goal`."""

    goal: Annotated[str, Field(max_length=LONGEST_GOAL, description="In a few words."), AfterValidator(_not_blank)]
    status: GoalStatus = Field(GoalStatus.ACTIVE, description="Absent: active.")
    check_in_frequency: Annotated[str, Field(max_length=LONGEST_FREQUENCY), AfterValidator(_not_blank)] | None = Field(
        None, description="Such as daily or every Monday."
    )


def track_goal(invocation: Invocation, given: TrackGoal) -> Outcome:
    """Keeps the goal, or says how one that is kept stands; what the user set about it stays."""
    goal = invocation.app.summaries.goals.track(
        invocation.scope, given.goal, given.status, given.check_in_frequency, invocation.now
    )
    return Outcome({"id": goal.id, "status": goal.status.value, "version": goal.version})


def _say(_given: TrackGoal, result: Mapping[str, Any]) -> str:
    return f"I follow that goal: it is {result['status']}."


TOOLS: Mapping[str, Tool] = {"track_goal": Tool(TrackGoal, track_goal, _say)}
