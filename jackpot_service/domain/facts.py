"""
The facts that an entry records, in the form that its digest covers: plain strings, integers, lists and nulls.

Facts of a closing, a result, a cancellation or voids are stored in the entry, in just this form: events, the API and
`verify` read them there. So is a round's game number, by the first bets or result that say it. Bets that were taken
under limits of their table store the version of these. Bets, awards and acts have rows of their own. For these the same
functions make the facts when an entry is written and when `verify` reads the rows back. So a row that was changed
afterwards no longer matches its entry.

Lists are in the order of their ids: the order in which things were sent is not content. Amounts are written without
exponent and trailing zeros, times in UTC with microseconds.
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.casinos import Casino
from jackpot_service.domain.exceptions import NotedException
from jackpot_service.domain.journal import Postings
from jackpot_service.domain.money import RateSheet, plain
from jackpot_service.domain.outcomes import Cancellation, Closing, Hand, HandStatus, Result
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rates import RateSource
from jackpot_service.domain.rounds import Round
from jackpot_service.domain.rules import JackpotRules, as_document
from jackpot_service.domain.settlement import Award, Entitlement, Settlement
from jackpot_service.domain.table_limits import SetLimits

Facts = Mapping[str, Any]


def instant(moment: datetime | None) -> str | None:
    """Write an instant in UTC, always with six decimals of a second."""
    if moment is None:
        return None
    return f"{moment.astimezone(UTC).isoformat(timespec='microseconds').removesuffix('+00:00')}Z"


def facts_of_postings(postings: Postings) -> list[list[str]]:
    """Account, currency, amount and movement of each line, in the order booked."""
    return [[line.account, line.currency, plain(line.amount), line.movement] for line in postings.lines]


def facts_of_bets(bets: Bets) -> Mapping[str, str]:
    """
    Write bets, in the order of their ids, column by column: each one text, joined by spaces, which no value holds.

    A bet that states no time has `-` there; if none does, the text is empty.
    """
    bets = bets.by_id()
    return {
        "bet_ids": " ".join(bets.bet_ids),
        "player_ids": " ".join(bets.player_ids),
        "hands": " ".join(bets.hands),
        "currencies": " ".join(bets.currencies),
        "stakes_minor": " ".join(map(str, bets.stakes_minor)),
        "occurred_at": " ".join([instant(moment) or "-" for moment in bets.occurred_at or ()]),
    }


def facts_of_refused_bets(bets: Iterable[Bet]) -> list[list[Any]]:
    """Every field of each bet, as they were sent."""
    return [[*bet[:-1], instant(bet.occurred_at)] for bet in bets]


def facts_of_opening(round_: Round) -> Facts:
    """The terms fixed at a round's opening: recorded by the round's first step, whatever it is."""
    return {} if round_.steps > 1 else facts_of_terms(round_)


def facts_of_terms(round_: Round) -> Facts:
    """The terms of a round, as its first step recorded them."""
    terms = {"rules_version": round_.rules_version, "rate_sheet": round_.rate_sheet, "casino_id": round_.casino_id}
    return {"opened": terms}


def facts_of_game_number(before: Round, after: Round) -> Facts:
    """The game number that a step of a round was the first to say; nothing if it said none."""
    return {} if after.game_number == before.game_number else {"game_number": after.game_number}


def facts_of_limits(limits: SetLimits | None) -> Facts:
    """The version of a table's own limits that bets were taken under; nothing for a table without any."""
    return {} if limits is None else {"limits_version": limits.version}


def facts_of_voids(
    voided: Iterable[str], tombstones: Iterable[str], *, occurred_at: datetime | None, reason: str | None
) -> Facts:
    """The ids made void, of booked bets and of bets not yet known, and why, if that was stated."""
    return {
        "voided": sorted(voided),
        "tombstones": sorted(tombstones),
        "occurred_at": instant(occurred_at),
        "reason": reason,
    }


def facts_of_late_voids(voids: Facts) -> Facts:
    """The exception of voids after the closing, from the facts of their entry; `verify` derives it again."""
    return {
        "call": "voids",
        "bet_ids": sorted((*voids["voided"], *voids["tombstones"])),
        "occurred_at": voids["occurred_at"],
        "reason": voids["reason"],
    }


def facts_of_closing(closing: Closing) -> Facts:
    """The end of a round's betting as it was sent."""
    return {"bet_count": closing.bet_count, "occurred_at": instant(closing.occurred_at)}


def facts_of_hands(hands: Iterable[Hand]) -> list[list[Any]]:
    """Name, status and cards of each hand, by name."""
    return sorted([hand.hand, str(hand.status), sorted(hand.cards)] for hand in hands)


def facts_of_result(result: Result) -> Facts:
    """A result as it was sent."""
    return {
        "bet_count": result.bet_count,
        "hands": facts_of_hands(result.hands),
        "dealer": sorted(result.dealer),
        "occurred_at": instant(result.occurred_at),
    }


def facts_of_cancellation(cancellation: Cancellation, *, cycle: int) -> Facts:
    """A cancellation as it was sent, and the cycle it fell in."""
    return {
        "reason": cancellation.reason,
        "cycle": cycle,
        "hands": facts_of_hands(cancellation.hands),
        "occurred_at": instant(cancellation.occurred_at),
    }


def hands_of(recorded: Iterable[Sequence[Any]]) -> tuple[Hand, ...]:
    """Read hands back. Raises: ValueError for what no entry records."""
    return tuple(
        # Of nearly all hands it is this one, and to look an enumeration's member up takes as long as all else here.
        Hand(name, HandStatus.DEALT if status == HandStatus.DEALT else HandStatus(status), tuple(cards))
        for name, status, cards in recorded
    )


def result_of(recorded: Facts) -> Result:
    """Read a result back. Raises: KeyError, TypeError, ValueError for what no entry records."""
    dealer = tuple(recorded["dealer"])
    return Result(recorded["bet_count"], hands_of(recorded["hands"]), dealer, moment_of(recorded["occurred_at"]))


def closing_of(recorded: Facts) -> Closing:
    """Read a closing back. Raises: KeyError, TypeError, ValueError for what no entry records."""
    return Closing(recorded["bet_count"], moment_of(recorded["occurred_at"]))


def cancellation_of(recorded: Facts) -> Cancellation:
    """Read a cancellation back. Raises: KeyError, TypeError, ValueError for what no entry records."""
    return Cancellation(recorded["reason"], hands_of(recorded["hands"]), moment_of(recorded["occurred_at"]))


def moment_of(recorded: str | None) -> datetime | None:
    """Read an instant back. Raises: TypeError, ValueError for what no entry records."""
    return None if recorded is None else datetime.fromisoformat(recorded)


def facts_of_settlement(settlement: Settlement, live: Iterable[Bet], *, cycle: int, positions: Sequence[int]) -> Facts:
    """
    A settlement with the sums of the round's live stakes, and the positions at which the pools were read.

    Its awards are apart.
    """
    return {
        "stakes": facts_of_stakes(live),
        "cycle": cycle,
        "positions": list(positions),
        "policy": settlement.policy,
        "meter_before": plain(settlement.meter_before),
        "weight": plain(settlement.weight),
        "entitlements": facts_of_entitlements(settlement.entitlements),
        "refunds": [bet.bet_id for bet in settlement.refunds],
        "meter_after": plain(settlement.meter_after),
        "reserve_after": plain(settlement.reserve_after),
        "prize_fund_after": plain(settlement.prize_fund_after),
        "overflow": plain(settlement.overflow),
        "carried": None if settlement.carried is None else plain(settlement.carried),
        "house_seed": plain(settlement.house_seed),
        "cycle_after": settlement.cycle_after,
    }


def facts_of_stakes(bets: Iterable[Bet]) -> list[list[Any]]:
    """Sum stakes by currency: minor units, and how many bets."""
    sums: dict[str, tuple[int, int]] = {}
    for bet in bets:
        minor, count = sums.get(bet.currency, (0, 0))
        sums[bet.currency] = minor + bet.stake_minor, count + 1
    return [[currency, *of_currency] for currency, of_currency in sorted(sums.items())]


def facts_of_entitlements(entitlements: Iterable[Entitlement]) -> list[dict[str, str]]:
    """The entitlements of the winners to the meter, as exact fractions."""
    return [{"bet_id": claim.bet_id, "tier": str(claim.tier), "amount": str(claim.amount)} for claim in entitlements]


def facts_of_awards(awards: Iterable[Award]) -> list[list[Any]]:
    """Every figure of each award, and its first state."""
    return [
        [
            award.bet.bet_id,
            str(award.tier),
            award.amount_minor,
            award.bet.currency,
            plain(award.cost),
            str(award.funded_by),
            str(award.state),
        ]
        for award in awards
    ]


def facts_of_cycle(*, cycle: int, rules_version: int, cut: Sequence[int]) -> Facts:
    """A cycle that the entry opened."""
    return {"opened_cycle": {"cycle": cycle, "rules_version": rules_version, "cut": list(cut)}}


def facts_of_next_cycle(settlement: Settlement, *, rules_version: int, cut: Sequence[int] | None) -> Facts:
    """The cycle that a hit opens; nothing where there was no hit."""
    if cut is None:
        return {}
    return facts_of_cycle(cycle=settlement.cycle_after, rules_version=rules_version, cut=cut)


def facts_of_sheet(sheet: RateSheet, *, effective_at: datetime, source: Facts | None = None) -> Facts:
    """A rate sheet, its rates by currency; and the document that they were taken from, if there was one."""
    rates = sorted([rate.currency, plain(rate.base_per_unit), rate.exponent] for rate in sheet.rates.values())
    recorded = {"base": sheet.base, "number": sheet.number, "effective_at": instant(effective_at), "rates": rates}
    return recorded if source is None else {**recorded, "source": source}


def facts_of_rate_source(source: RateSource | None) -> Facts | None:
    """The document that rates were taken from."""
    if source is None:
        return None
    return {"name": source.name, "date": source.day.isoformat(), "sha256": source.sha256}


def facts_of_casino(casino: Casino) -> Facts:
    """A casino; its gaming days only where they are not those of UTC, as digests of older books go without."""
    days = {} if casino.has_plain_days else {"zone": casino.zone, "day_starts": f"{casino.day_starts:%H:%M}"}
    return {"casino_id": casino.casino_id, "name": casino.name, **days}


def facts_of_table(*, table_id: str, casino_id: str, game: str, jackpot_id: str | None) -> Facts:
    """A gaming table."""
    return {"table_id": table_id, "casino_id": casino_id, "game": game, "jackpot_id": jackpot_id}


def facts_of_principal(principal: Principal) -> Facts:
    """A user or a service account."""
    return {
        "principal": principal.name,
        "role": str(principal.role),
        "casino_id": principal.casino_id,
        "is_automaton": principal.is_automaton,
        "department": principal.department,
    }


def facts_of_key(
    *,
    key_id: str,
    principal: str,
    table_ids: Iterable[str],
    secret_hash: bytes | None,
    issuer: str | None,
    subject: str | None,
) -> Facts:
    """A key: the hash of its secret, never the secret; or a subject of an issuer."""
    return {
        "key_id": key_id,
        "principal": principal,
        "table_ids": sorted(table_ids),
        "secret_hash": None if secret_hash is None else secret_hash.hex(),
        "issuer": issuer,
        "subject": subject,
    }


def facts_of_revocation(*, key_id: str, principal: str, revoked_at: datetime) -> Facts:
    """A key that opens nothing any more."""
    return {"key_id": key_id, "principal": principal, "revoked_at": instant(revoked_at)}


def without_hashes(recorded: Facts) -> Facts:
    """The facts of an act, as people see them: without the hash of a key's secret, which opens nothing all the same."""
    return {name: value for name, value in recorded.items() if name != "secret_hash"}


def facts_of_stripes(stripe_nos: Iterable[int]) -> Facts:
    """Stripes added to a running jackpot."""
    return {"stripes": sorted(stripe_nos)}


def facts_of_jackpot(jackpot_id: str, rules: JackpotRules, *, base_amount: Decimal) -> Facts:
    """A jackpot's opening: its first rules version and its first cycle."""
    return {
        "jackpot_id": jackpot_id,
        "base": rules.base,
        "base_amount": plain(base_amount),
        "rules": {"version": 1, "document": as_document(rules)},
        **facts_of_cycle(cycle=1, rules_version=1, cut=(1,)),
    }


def facts_of_act(
    *,
    request_id: str | None,
    decides: str | None,
    subject: str,
    jackpot_id: str | None,
    reason: str | None,
    request: Facts | None,
    before: Facts | None,
    after: Facts,
    effects: Sequence[Facts],
) -> Facts:
    """An administrative act: what it is about, why, its request, what was before and is after, what it booked."""
    return {
        "request_id": request_id,
        "decides": decides,
        "subject": subject,
        "jackpot_id": jackpot_id,
        "reason": reason,
        "request": request,
        "before": before,
        "after": after,
        "effects": list(effects),
    }


def facts_of_effect(*, book: str, seq: int, kind: str, recorded: Facts) -> Facts:
    """An entry that an act booked in a jackpot's book, on its stripe 0, and what that entry recorded."""
    return {"book": book, "seq": seq, "kind": kind, "recorded": recorded}


def facts_of_entry_of_act(*, act: int, recorded: Facts) -> Facts:
    """The facts of an act's entry in a jackpot's book: the act's seq in the reference book, and the rest."""
    return {"act": act, "recorded": recorded}


def facts_of_change(
    *,
    request_id: str,
    kind: str,
    payload: Facts,
    base_version: str,
    to_confirm: Facts,
    approvals_due: int,
    expires_at: datetime,
) -> Facts:
    """A change that somebody asks for."""
    return {
        "request_id": request_id,
        "kind": kind,
        "payload": payload,
        "base_version": base_version,
        "confirm": to_confirm,
        "approvals_due": approvals_due,
        "expires_at": instant(expires_at),
    }


def facts_of_decision(
    *,
    request_id: str,
    outcome: str,
    confirmed: Facts,
    is_emergency: bool,
    is_final: bool,
    assertion: Facts | None = None,
) -> Facts:
    """
    A decision on a change request; one that is not final is an approval that waits for others.

    `assertion` is what a passkey signed it with.
    """
    recorded = {
        "request_id": request_id,
        "outcome": outcome,
        "confirm": confirmed,
        "is_emergency": is_emergency,
        "is_final": is_final,
    }
    return recorded if assertion is None else {**recorded, "assertion": assertion}


def facts_of_passkey(
    *,
    passkey_id: str,
    principal: str,
    name: str,
    credential_id: bytes,
    public_key: bytes,
    sign_count: int,
    rp_id: str,
) -> Facts:
    """A passkey: the public key that its signatures are checked with, and for which domain it signs."""
    return {
        "passkey_id": passkey_id,
        "principal": principal,
        "name": name,
        "credential_id": base64url(credential_id),
        "public_key": base64url(public_key),
        "sign_count": sign_count,
        "rp_id": rp_id,
    }


def facts_of_passkey_revocation(*, passkey_id: str, principal: str, revoked_at: datetime) -> Facts:
    """A passkey that signs nothing any more."""
    return {"passkey_id": passkey_id, "principal": principal, "revoked_at": instant(revoked_at)}


def facts_of_assertion(
    *, passkey_id: str, authenticator_data: bytes, client_data: bytes, signature: bytes, effect: Facts
) -> Facts:
    """An assertion of WebAuthn, its bytes as base64url, and the effect that was signed."""
    return {
        "passkey_id": passkey_id,
        "authenticator_data": base64url(authenticator_data),
        "client_data": base64url(client_data),
        "signature": base64url(signature),
        "effect": effect,
    }


def base64url(content: bytes) -> str:
    """Write bytes as base64url without padding, as WebAuthn does."""
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def facts_of_emergency_switch(*, is_on: bool) -> Facts:
    """Whether one person alone may approve an own request."""
    return {"is_on": is_on}


def facts_of_exception(exception: NotedException) -> Facts:
    """An exception as it was shown to the principal who acknowledged it."""
    return {
        "kind": exception.kind,
        "noticed_at": instant(exception.noticed_at),
        "jackpot_id": exception.jackpot_id,
        "casino_id": exception.casino_id,
        "table_id": exception.table_id,
        "round_id": exception.round_id,
        "principal": exception.principal,
        "detail": exception.detail,
        "facts": exception.facts,
    }


def facts_of_acknowledgement(exception_id: str) -> Facts:
    """An exception that somebody looked into."""
    return {"exception_id": exception_id}
