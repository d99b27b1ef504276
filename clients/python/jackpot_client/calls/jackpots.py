"""The calls about jackpots: meters, paytables, rules, hits, and one frame of the feed."""

from collections.abc import Iterable
from dataclasses import replace

from jackpot_client.calls.call import Call, Listing, jackpot_path, joined, listing, reading
from jackpot_client.values.meters import FeedFrame, Jackpot, ShownMeter
from jackpot_client.values.rules import Hit, LimitedTables, Paytable, RulesSheet


def jackpots() -> Listing[Jackpot]:
    """List every jackpot that the key may see, by id."""
    return listing("/v1/jackpots", Jackpot)


def jackpot(*, jackpot_id: str) -> Call[Jackpot]:
    """Return a jackpot as it stands."""
    return reading(jackpot_path(jackpot_id), Jackpot)


def meter(
    *, jackpot_id: str, currency: str | Iterable[str] | None = None, max_age: int | None = None
) -> Call[ShownMeter]:
    """
    Return the amount on offer now, in one or several currencies; with `max_age=1` it may be a second old.

    One that has not moved since the client last asked for it is not sent again.
    """
    call = reading(f"{jackpot_path(jackpot_id)}/meter", ShownMeter, currency=joined(currency), max_age=max_age)
    return replace(call, is_revalidated=True)


def paytable(*, jackpot_id: str, currency: str | None = None) -> Call[Paytable]:
    """Return the prizes that a jackpot pays, as the service prints them."""
    return reading(f"{jackpot_path(jackpot_id)}/paytable", Paytable, currency=currency)


def rules(
    *, jackpot_id: str, currency: str | None = None, lang: str | None = None, stake_minor: int | None = None
) -> Call[RulesSheet]:
    """Return the rules of the running cycle and those that wait for the next, as data and in sentences."""
    path = f"{jackpot_path(jackpot_id)}/rules"
    return reading(path, RulesSheet, currency=currency, lang=lang, stake_minor=stake_minor)


def table_limits(*, jackpot_id: str) -> Call[LimitedTables]:
    """Return the limits that tables have next to their jackpot's, in force for the next bet."""
    return reading(f"{jackpot_path(jackpot_id)}/table-limits", LimitedTables)


def hits(*, jackpot_id: str) -> Listing[Hit]:
    """List a jackpot's hits, the latest first."""
    return listing(f"{jackpot_path(jackpot_id)}/hits", Hit)


def feed_frame(*, jackpot_id: str, currency: str | Iterable[str] | None = None) -> Call[FeedFrame]:
    """Return a jackpot once as displays show it; `feed` goes on."""
    return reading(f"{jackpot_path(jackpot_id)}/feed", FeedFrame, currency=joined(currency))
