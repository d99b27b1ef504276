"""Whether a round is what its entries make of it: table, terms, steps, state, ending, and the writers of its rows."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from jackpot_service.domain.allocation import weight
from jackpot_service.domain.facts import instant
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import plain
from jackpot_service.domain.rounds import RoundState, first_key_at
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot

MILLISECOND = timedelta(milliseconds=1)

STATE_AFTER: Final[Mapping[EntryKind, RoundState | None]] = {
    EntryKind.BETS: RoundState.OPEN,
    EntryKind.VOIDS: None,
    EntryKind.CLOSING: RoundState.CLOSED,
    EntryKind.RESULT: RoundState.SETTLED,
    EntryKind.CANCELLATION: RoundState.CANCELLED,
}
"""The state in which each kind of entry leaves its round; None leaves it as it was."""

COMES_AFTER: Final[Mapping[EntryKind, frozenset[RoundState]]] = {
    EntryKind.BETS: frozenset({RoundState.OPEN}),
    EntryKind.VOIDS: frozenset({RoundState.OPEN, RoundState.CLOSED}),
    EntryKind.CLOSING: frozenset({RoundState.OPEN}),
    EntryKind.RESULT: frozenset({RoundState.OPEN, RoundState.CLOSED}),
    EntryKind.CANCELLATION: frozenset({RoundState.OPEN, RoundState.CLOSED}),
}
"""The states of a round in which each kind of entry may come."""

RECORDED_BY: Final[Mapping[EntryKind, frozenset[str]]] = {
    EntryKind.BETS: frozenset(),
    EntryKind.VOIDS: frozenset({"voided", "tombstones", "occurred_at", "reason"}),
    EntryKind.CLOSING: frozenset({"bet_count", "occurred_at"}),
    EntryKind.RESULT: frozenset({"result", "settlement"}),
    EntryKind.CANCELLATION: frozenset({"reason", "cycle", "hands", "occurred_at"}),
}
"""The facts that each kind of a round's entries stores."""

MAY_RECORD: Final[Mapping[EntryKind, frozenset[str]]] = {
    EntryKind.BETS: frozenset({"game_number", "limits_version"}),
    EntryKind.RESULT: frozenset({"game_number"}),
}
"""The facts that some entries store besides: the first game number, and limits that their table had."""


def table_is_its_own(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """The round's table exists, and belongs to the round's casino and jackpot."""
    table = jackpot.references.tables.get(round_.round.table_id)
    if table is None:
        yield _mismatch(Code.ROUND_TABLE, round_, "its table is not there")
    elif (table.casino_id, table.jackpot_id) != (round_.round.casino_id, round_.round.jackpot_id):
        detail = f"at casino {round_.round.casino_id}, its table is at {table.casino_id} for {table.jackpot_id}"
        yield _mismatch(Code.ROUND_TABLE, round_, detail)


def terms_were_in_force(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """
    The round's rules version and rate sheet exist; the sheet was effective when the round was opened.

    A cycle under the version had begun. It need not be the running one: a hit may come between the look at what is in
    force and the round's first entry.
    """
    version, number = round_.round.rules_version, round_.round.rate_sheet
    if version not in jackpot.documents:
        yield _mismatch(Code.ROUND_TERMS, round_, f"there is no rules version {version}")
    elif round_.entries and version not in jackpot.versions_by(round_.entries[0]):
        yield _mismatch(Code.ROUND_TERMS, round_, f"no cycle under rules version {version} had begun")
    if (jackpot.base, number) not in jackpot.references.sheet_rows:
        yield _mismatch(Code.ROUND_TERMS, round_, f"there is no rate sheet {jackpot.base} {number}")
    elif jackpot.references.effective_at(jackpot.base, number) > round_.round.opened_at:
        yield _mismatch(Code.ROUND_TERMS, round_, f"rate sheet {jackpot.base} {number} was not yet in force")


def opening_is_that_of_its_first_entry(round_: RoundDocuments, _jackpot: Jackpot) -> Found:
    """The round was opened when the request of its first entry came in, and its key says so too."""
    opened_at = round_.round.opened_at
    if round_.entries and round_.entries[0].received_at != opened_at:
        first = instant(round_.entries[0].received_at)
        yield _mismatch(Code.ROUND_OPENED, round_, f"opened at {instant(opened_at)}, first entry {first}")
    if not first_key_at(opened_at) <= round_.round.round_key < first_key_at(opened_at + MILLISECOND):
        yield _mismatch(Code.ROUND_OPENED, round_, f"opened at {instant(opened_at)}, with key {round_.round.round_key}")


def steps_are_dense(round_: RoundDocuments, _jackpot: Jackpot) -> Found:
    """The round's entries are its steps from 1, as many as it counts, and of the kinds that a round has."""
    steps = [entry.step for entry in round_.entries]
    if steps != list(range(1, round_.round.steps + 1)):
        yield _mismatch(Code.ROUND_STEPS, round_, f"counts {round_.round.steps}, its entries are {steps}")
    for entry in round_.entries:
        if entry.kind not in STATE_AFTER:
            yield Mismatch(Code.ENTRY_KIND, entry.book, entry.place, f"a {entry.kind} belongs to no round")


def state_is_what_its_entries_make(round_: RoundDocuments, _jackpot: Jackpot) -> Found:
    """No bet comes after a closing, and nothing after a result or a cancellation; each entry stores its facts."""
    state = RoundState.OPEN
    for entry in round_.entries:
        kind = entry.known_kind
        if kind in COMES_AFTER and state not in COMES_AFTER[kind]:
            yield _mismatch(Code.ROUND_ENDING, round_, f"step {entry.step}, a {kind}, came when it was {state}")
        state = STATE_AFTER.get(kind) or state
    if round_.round.state is not state:
        yield _mismatch(Code.ROUND_STATE, round_, f"{round_.round.state}, its entries make it {state}")
    for entry in round_.entries:
        kind = entry.known_kind
        expected = RECORDED_BY.get(kind)
        stored = entry.facts.keys() - MAY_RECORD.get(kind, frozenset())
        if expected is not None and stored != expected:
            detail = f"step {entry.step}, a {entry.kind}, stores {sorted(entry.facts)}, not {sorted(expected)}"
            yield _mismatch(Code.ROUND_ENDING, round_, detail)


def game_number_is_the_one_said(round_: RoundDocuments, _jackpot: Jackpot) -> Found:
    """The round has the game number that one of its entries stores, and none if none does."""
    stated = [entry.facts["game_number"] for entry in round_.entries if "game_number" in entry.facts]
    has = [] if round_.round.game_number is None else [round_.round.game_number]
    if stated != has:
        yield _mismatch(Code.ROUND_GAME_NUMBER, round_, f"has game number {has}, its entries say {stated}")


def betting_was_closed_as_it_had_to_be(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """
    A closing counts the live bets, a void after it has a reason, and a result comes after one that it requires.

    A result that is its round's first step has no bet, and nothing to close.
    """
    closed_by = next((entry.step for entry in round_.entries if entry.kind == EntryKind.CLOSING), None)
    for entry in round_.entries:
        is_closed = closed_by is not None and (entry.step or 0) > closed_by
        if entry.kind == EntryKind.CLOSING:
            live = len(round_.live(before_step=entry.step or 0))
            if entry.facts.get("bet_count") != live:
                detail = f"step {entry.step}: closed with a count of {entry.facts.get('bet_count')}, had {live} live"
                yield _mismatch(Code.ROUND_ENDING, round_, detail)
        elif entry.kind == EntryKind.VOIDS and is_closed and not entry.facts.get("reason"):
            yield _mismatch(Code.ROUND_ENDING, round_, f"step {entry.step}: void after its closing without a reason")
        elif entry.kind == EntryKind.RESULT and entry.step != 1 and not is_closed:
            rules = jackpot.rules.get(round_.round.rules_version)
            if rules is not None and rules.close_required:
                yield _mismatch(Code.ROUND_ENDING, round_, f"step {entry.step}: a result before its closing")


def live_bets_are_counted_and_weighed(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """The round's count and weight are those of its bets that are not void."""
    live = [booked_bet.bet for booked_bet in round_.bets if not booked_bet.is_void]
    if round_.round.bet_count != len(live):
        yield _mismatch(Code.ROUND_BET_COUNT, round_, f"counts {round_.round.bet_count} live bets, has {len(live)}")
    expected = weight(live, jackpot.sheet(round_.round.rate_sheet))
    if round_.round.weight != expected:
        yield _mismatch(Code.ROUND_WEIGHT, round_, f"weighs {plain(round_.round.weight)}, its bets {plain(expected)}")


def rows_were_written_by_an_entry(round_: RoundDocuments, _jackpot: Jackpot) -> Found:
    """Each row names a step whose entry writes such rows; awards belong to a result that is there."""
    kinds = {entry.step: entry.kind for entry in round_.entries}
    for booked_bet in round_.bets:
        if kinds.get(booked_bet.step) != EntryKind.BETS:
            detail = f"bets: step {booked_bet.step} is no {EntryKind.BETS}"
            yield _mismatch(Code.DOCUMENT_WITHOUT_ENTRY, round_, detail)
    for row in round_.of("voids"):
        if kinds.get(row.step) != EntryKind.VOIDS:
            detail = f"voids: step {row.step} is no {EntryKind.VOIDS}"
            yield _mismatch(Code.DOCUMENT_WITHOUT_ENTRY, round_, detail)
    if round_.of("awards") and EntryKind.RESULT not in kinds.values():
        yield _mismatch(Code.DOCUMENT_WITHOUT_ENTRY, round_, "awards: without a settlement")
    awards = {(row.bet_id, row.tier, row.correction) for row in round_.of("awards")}
    for table in ("award_steps", "payments"):
        for row in round_.of(table):
            if (row.bet_id, row.tier, row.correction) not in awards:
                detail = f"{table}: bet {row.bet_id} has no award for {row.tier}"
                yield _mismatch(Code.DOCUMENT_WITHOUT_ENTRY, round_, detail)


def _mismatch(code: Code, round_: RoundDocuments, detail: str) -> Mismatch:
    return Mismatch(code, round_.round.jackpot_id, round_.place, detail)


CHECKS: tuple[Callable[[RoundDocuments, Jackpot], Found], ...] = (
    table_is_its_own,
    terms_were_in_force,
    opening_is_that_of_its_first_entry,
    steps_are_dense,
    state_is_what_its_entries_make,
    game_number_is_the_one_said,
    betting_was_closed_as_it_had_to_be,
    live_bets_are_counted_and_weighed,
    rows_were_written_by_an_entry,
)
