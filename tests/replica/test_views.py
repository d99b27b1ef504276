"""Which calls read at a replica: every list and every report, and no call that writes, decides or lets somebody in."""

from typing import Final

from jackpot_service.api.reading import POSITION
from tests.support.contract import DOCUMENT, METHODS, resolved

AT_PRIMARY: Final = {
    "listEvents": "read for all consumers of a process together, by cursors",
    "listJobs": "who has just begun a job looks for it",
    "listKeys": "who has just revoked a key looks for it",
    "listPasskeys": "who has just revoked a passkey looks for it",
    "listProblems": "reads nothing",
    "listReports": "reads nothing",
    "listTableRounds": "notes who read it",
    "listVerificationRuns": "jobs",
}
"""The lists that are read at the primary, and why."""

MORE: Final = {"getChangeRequestCounts", "getReport"}
"""What is read at a replica and is no list."""


def operations() -> dict[str, bool]:
    """All operations, and whether they read at a replica for their caller."""
    return {
        operation["operationId"]: any(
            resolved(parameter)["name"] == POSITION for parameter in operation.get("parameters", ())
        )
        for path in DOCUMENT["paths"].values()
        for method, operation in path.items()
        if method in METHODS
    }


def test_lists_and_reports_are_read_at_the_replica() -> None:
    at_replica = {name for name, is_at_replica in operations().items() if is_at_replica}
    lists = {name for name in operations() if name.startswith("list")}

    assert at_replica == lists - AT_PRIMARY.keys() | MORE
    assert AT_PRIMARY.keys() <= lists
