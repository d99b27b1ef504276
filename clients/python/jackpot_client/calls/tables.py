"""The calls about the caller, its casino and tables and the awards of its rounds."""

from datetime import datetime
from functools import partial

from jackpot_client.calls.call import Call, Listing, listing, reading, table_path, writing
from jackpot_client.errors import Ids
from jackpot_client.ids import checked_id
from jackpot_client.reading import decoded
from jackpot_client.values.awards import AwardRecord
from jackpot_client.values.sending import time_text
from jackpot_client.values.tables import Casino, Me, ShownTable, Table
from jackpot_client.values.words import AwardState


def me() -> Call[Me]:
    """Return whose key it is: name, role, casino and tables."""
    return reading("/v1/me", Me)


def casinos() -> Listing[Casino]:
    """List the casinos that the key may see, by id."""
    return listing("/v1/casinos", Casino)


def tables(*, casino_id: str | None = None, jackpot_id: str | None = None) -> Listing[Table]:
    """List the tables that the key may see, by id."""
    return listing("/v1/tables", Table, casino_id=casino_id, jackpot_id=jackpot_id)


def table(*, table_id: str) -> Call[ShownTable]:
    """Return a table: its jackpot, the stakes that it takes now, and its rounds that wait for an end."""
    return reading(table_path(table_id), ShownTable)


def awards(
    *,
    state: AwardState | None = None,
    jackpot_id: str | None = None,
    casino_id: str | None = None,
    player_id: str | None = None,
    open_: bool = False,
    claimable_before: datetime | None = None,
    oldest_first: bool = False,
) -> Listing[AwardRecord]:
    """
    List awards that the key may see, those of the latest rounds first unless the oldest are to be.

    With `open_` they are those of which something is still to be paid or decided. With `claimable_before` they are
    those to be paid whose claim period ends before that.
    """
    return listing(
        "/v1/awards",
        AwardRecord,
        state=None if state is None else state.value,
        jackpot_id=jackpot_id,
        casino_id=casino_id,
        player_id=player_id,
        open_=open_ or None,
        claimable_before=claimable_before,
        oldest_first=oldest_first or None,
    )


def award(*, award_id: str) -> Call[AwardRecord]:
    """Return an award as it stands."""
    return reading(_award_path(award_id), AwardRecord)


def pay_award(
    *,
    award_id: str,
    request_id: str,
    reference: str,
    amount_minor: int | None = None,
    currency: str | None = None,
    paid_at: datetime | None = None,
    channel: str | None = None,
    payer: str | None = None,
    withheld_minor: int | None = None,
) -> Call[AwardRecord]:
    """
    Record that the casino paid an award, or a part of it; without an amount, all that is unpaid.

    `request_id` is the caller's own, kept for ever. `reference` names one payment of the award. `withheld_minor` is the
    part that the casino kept for its authority.
    """
    stated: dict[str, object] = {
        "request_id": checked_id(request_id, name="request_id"),
        "reference": reference,
        "amount_minor": amount_minor,
        "currency": currency,
        "paid_at": None if paid_at is None else time_text(paid_at, name="paid_at"),
        "channel": channel,
        "payer": payer,
        "withheld_minor": withheld_minor,
    }
    content = {name: value for name, value in stated.items() if value is not None}
    ids = Ids(award_id=award_id, request_id=request_id)
    read = partial(decoded, AwardRecord)
    return writing("PUT", f"{_award_path(award_id)}/payment", content, ids=ids, read=read)


def _award_path(award_id: str) -> str:
    return f"/v1/awards/{checked_id(award_id, name='award_id')}"
