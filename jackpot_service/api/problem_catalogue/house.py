"""Problems of adding what a house is made of: casinos, tables, jackpots, first rate sheets."""

from typing import Final

from jackpot_service.api.problem_catalogue.rows import Section, row, text, whole
from jackpot_service.usecases.acts import AlreadyExists
from jackpot_service.usecases.casinos import BadGame, UnknownZone
from jackpot_service.usecases.jackpots import TooManyStripes
from jackpot_service.usecases.publish_rates import SheetExists

HOUSE: Final = Section.of(
    "Casinos, tables and jackpots that are added",
    row(
        AlreadyExists,
        "Use another id, or look at what has this one.",
        casino_id=text("The casino that has the id.", is_always=False),
        table_id=text("The table that has it.", is_always=False),
        jackpot_id=text("The jackpot that has it.", is_always=False),
        principal=text("The user who has the subject.", is_always=False),
    ),
    row(BadGame, "Name a game on which the jackpot is played.", game=text("The game.")),
    row(SheetExists, "Ask for a change of the kind `rate-sheet`.", base=text("The base currency.")),
    row(TooManyStripes, "Name a number within the bounds of the detail.", stripes=whole("The number.")),
    row(UnknownZone, "Use a name of the IANA time zones, such as `Europe/Riga`.", zone=text("The name.")),
)
