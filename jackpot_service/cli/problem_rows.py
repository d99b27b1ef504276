"""The errors that the command line alone has: what a caller of the API never meets."""

from typing import Final

from jackpot_service.api.problem_catalogue.rows import Row, row, text, whole
from jackpot_service.cli.calls.jackpots import UnknownHit
from jackpot_service.database.role import RightsNotMade, RoleInUse
from jackpot_service.domain.rulebooks import UnknownRulebook
from jackpot_service.domain.seals import BadSeal
from jackpot_service.records.checkpoints import VerificationUnreadable
from jackpot_service.schema.distribute import NotDistributable
from jackpot_service.schema.migrate import NoSuchRevision, SchemaInUse, SchemaTooNew
from jackpot_service.schema.months import AttachingTooLong, BetsInUse, NameTaken, NotOwner

ROWS: Final[tuple[Row, ...]] = (
    row(AttachingTooLong, "Run the command again at a quiet hour, or with more time."),
    row(BadSeal, "Use the file as `jackpot seal` wrote it."),
    row(BetsInUse, "Run the command again when the long readings have ended."),
    row(NameTaken, "Rename the other table."),
    row(NoSuchRevision, "Name a revision of `migrations/versions`."),
    row(NotDistributable, "Do what the detail says, and run the command again."),
    row(NotOwner, "Run the command with the owner's login (`JACKPOT_OWNER_URL`)."),
    row(RightsNotMade, "Give the owner's login what the detail names."),
    row(RoleInUse, "Run the command again, from one place at a time."),
    row(SchemaInUse, "Run the command again at a quiet hour; it goes on where it stopped."),
    row(SchemaTooNew, "Use the newer version of the service."),
    row(UnknownHit, "Look at `jackpot hits list`."),
    row(UnknownRulebook, "Use one of the rulebooks that the detail names.", rulebook=text("The name.")),
    row(
        VerificationUnreadable,
        "Verify from the beginning: `jackpot verify` without `--from-last`.",
        number=whole("The number of the note."),
    ),
)
