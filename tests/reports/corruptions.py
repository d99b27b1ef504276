"""What somebody with every right might change in the books of `history`, and the codes by which the proof names it."""

from dataclasses import dataclass, field
from typing import Final

from jackpot_service.ledger.mismatches import Code


@dataclass(frozen=True)
class Corruption:
    """A change of one table, as SQL, and every code that the proof must find, no more and no less."""

    table: str
    statement: str
    codes: frozenset[Code] = field(init=False)
    expected: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", frozenset(map(Code, self.expected.split())))

    def __str__(self) -> str:
        return self.statement


def _in(round_id: str) -> str:
    return f"round_key = (SELECT round_key FROM rounds WHERE round_id = '{round_id}')"  # noqa: S608  constants of this module


def _change(table: str, change: str, where: str, expected: str) -> Corruption:
    return Corruption(table, f"UPDATE {table} SET {change} WHERE {where}", expected)  # noqa: S608  as above


def _remove(table: str, where: str, expected: str) -> Corruption:
    return Corruption(table, f"DELETE FROM {table} WHERE {where}", expected)  # noqa: S608  as above


def _forge(table: str, columns: str, source: str, expected: str) -> Corruption:
    statement = f"INSERT INTO {table} SELECT {columns} FROM {source} LIMIT 1"  # noqa: S608  as above
    return Corruption(table, statement, expected)


HIT, LOST, MIXED, PART, HELD, VOIDED, OPEN = map(_in, ("hit", "lost", "mixed", "part", "held", "voided", "open"))

# What follows when a live bet of a settled round is there no more, or one more is.
ANOTHER_BET = "entry-digest entry-postings result-count round-bet-count round-weight settlement-figures"
OTHER_AWARDS = "entry-digest entry-postings award-figures award-steps settlement-figures"

BETS: Final = (
    _change(
        "bets",
        "stake_minor = stake_minor + 1",
        f"{HIT} AND bet_id = 'b'",
        "entry-digest entry-postings round-weight award-figures settlement-figures",
    ),
    _change(
        "bets",
        "stake_minor = 20000",
        f"{OPEN} AND bet_id = 'a'",
        "entry-digest entry-postings round-weight bet-stake",
    ),
    _change("bets", "player_id = 'ann'", f"{HIT} AND bet_id = 'b'", "entry-digest bet-hands"),
    _change("bets", "hand = 'h2'", f"{HIT} AND bet_id = 'b'", OTHER_AWARDS),
    _change("bets", "hand = 'h9'", f"{HIT} AND bet_id = 'b'", "entry-digest result-hands"),
    _change("bets", "currency = 'USD'", f"{OPEN} AND bet_id = 'a'", "entry-digest bet-stake entry-underivable"),
    _change(
        "bets",
        "currency = 'GBP'",
        f"{PART} AND bet_id = 'c'",
        "entry-digest entry-postings round-weight bet-stake settlement-figures",
    ),
    _change("bets", "occurred_at = occurred_at + interval '1 us'", LOST, "entry-digest"),
    _change("bets", "step = 2", f"{MIXED} AND bet_id = 'a'", "entry-digest entry-postings"),
    _remove("bets", LOST, ANOTHER_BET),
    _forge(
        "bets",
        "jackpot_id, round_key, 'x', step, 'zoe', hand, currency, stake_minor",
        f"bets WHERE {LOST}",
        ANOTHER_BET,
    ),
    _forge("bets", "jackpot_id, 17, bet_id, step, player_id, hand, currency, stake_minor", "bets", "round-missing"),
    _forge("bets", "'x', round_key, bet_id, step, player_id, hand, currency, stake_minor", "bets", "book-unknown"),
    _remove(
        "voids",
        f"{VOIDED} AND bet_id = 'b'",
        f"{ANOTHER_BET} award-figures award-steps bet-hands",
    ),
    _remove("voids", f"{VOIDED} AND bet_id = 'late'", "entry-digest"),
    _forge(
        "voids",
        "jackpot_id, round_key, 'a', step, false",
        f"voids WHERE {VOIDED} AND bet_id = 'b'",
        f"{ANOTHER_BET} award-figures award-steps",
    ),
    _change("voids", "is_tombstone = true", f"{VOIDED} AND bet_id = 'b'", "entry-digest void-bet"),
    _change("voids", "step = 7", f"{VOIDED} AND bet_id = 'late'", "entry-digest document-without-entry"),
)

ROUNDS: Final = (
    _change("rounds", "state = 'open'", LOST, "round-state"),
    _change("rounds", "state = 'cancelled'", LOST, "round-state"),
    _change("rounds", "state = 'settled'", OPEN, "round-state"),
    _change("rounds", "rules_version = 2", LOST, "entry-digest round-pins entry-underivable"),
    _change("rounds", "rate_sheet = 2", LOST, "entry-digest round-pins"),
    _change("rounds", "rate_sheet = 9", LOST, "entry-digest round-pins entry-underivable"),
    _change("rounds", "steps = steps + 1", LOST, "round-steps"),
    _change("rounds", "bet_count = bet_count + 1", LOST, "round-bet-count"),
    _change("rounds", "weight = weight + 0.01", LOST, "round-weight"),
    _change("rounds", "casino_id = 'c2'", LOST, "entry-digest entry-postings round-table"),
    _change("rounds", "table_id = 'T2'", LOST, "entry-digest round-table"),
    _change("rounds", "round_id = 'found'", LOST, "entry-digest"),
    _change("rounds", "opened_at = opened_at + interval '1 us'", LOST, "round-opened"),
    _remove("rounds", LOST, "round-missing"),
)

ENDINGS: Final = (
    _change("results", "bet_count = bet_count + 1", LOST, "entry-digest result-count"),
    _change("results", "dealer = '{2h}'", LOST, "entry-digest result-hands"),
    _change("results", "dealer = '{5s}'", LOST, "entry-digest"),
    _remove("results", LOST, "entry-digest document-without-entry round-ending entry-underivable"),
    _forge(
        "results", "jackpot_id, round_key, 1, 0, '{}'", f"rounds WHERE {OPEN}", "document-without-entry round-ending"
    ),
    _change("hands", "cards = '{2c,2d,2h,2s,9d}'", LOST, OTHER_AWARDS),
    _change("hands", "cards = '{2c,3d,5h,7s,9d}'", LOST, "entry-digest"),
    _change("hands", "status = 'dead'", LOST, "entry-digest entry-postings settlement-figures"),
    _change("hands", "status = 'forfeited'", f"{HIT} AND hand = 'h3'", OTHER_AWARDS),
    _remove("hands", LOST, "entry-digest result-hands"),
    _forge("hands", "jackpot_id, round_key, 'h1', 'dead', '{}'", f"rounds WHERE {OPEN}", "document-without-entry"),
    _change("cancellations", "reason = 'other'", "reason = 'misdeal'", "entry-digest"),
    _change("cancellations", "cycle = cycle + 1", "reason = 'misdeal'", "entry-digest cancellation-cycle"),
    _remove("cancellations", "reason = 'misdeal'", "entry-digest document-without-entry round-ending"),
)

SETTLEMENTS: Final = (
    _change("settlements", "meter_before = meter_before + 1", HIT, "entry-digest settlement-figures"),
    _change("settlements", "carried = NULL", HIT, "entry-digest settlement-figures"),
    _change(
        "settlements",
        "positions[1] = positions[1] - 1",
        HIT,
        "entry-digest entry-postings award-figures settlement-figures hit-cycle",
    ),
    _change(
        "settlements",
        "positions[1] = positions[1] + 1",
        LOST,
        "entry-digest settlement-figures settlements-cross",
    ),
    _change("settlements", "cycle = cycle + 1", LOST, "entry-digest settlement-cycle"),
    _change("settlements", "policy = 'minor_first'", PART, "entry-digest settlement-figures"),
    _change("settlements", "entitlements = '[]'", PART, "entry-digest settlement-figures"),
    _change("settlements", """entitlements = jsonb_set(entitlements, '{0,x}', '"x"')""", PART, "entry-digest"),
    _remove("settlements", LOST, "entry-digest round-ending"),
    _change("awards", "amount_minor = amount_minor + 1", f"{HIT} AND bet_id = 'a'", "entry-digest award-figures"),
    _change("awards", "funded_by = 'meter'", MIXED, "entry-digest award-figures"),
    _change("awards", "award_id = 'aw_'", MIXED, "award-id"),
    _remove("awards", f"{HIT} AND bet_id = 'a'", "entry-digest award-figures document-without-entry"),
    _forge(
        "awards",
        "jackpot_id, round_key, 'a', 'flush', 'x', 1, 'EUR', 0.01, 'meter'",
        f"rounds WHERE {LOST}",
        "entry-digest award-figures",
    ),
    _forge(
        "awards",
        "jackpot_id, round_key, 'a', 'flush', 'x', 1, 'EUR', 0.01, 'meter'",
        f"rounds WHERE {OPEN}",
        "document-without-entry",
    ),
    _change(
        "award_steps",
        "step = 'payable'",
        f"{HELD} AND bet_id = 'a'",
        "entry-digest award-figures award-steps held-balance",
    ),
    _change("award_steps", "step = 'paid'", MIXED, "entry-digest award-figures award-steps"),
    _change("award_steps", "taken_at = taken_at + interval '1 us'", MIXED, "award-steps"),
    _remove("award_steps", MIXED, "entry-digest award-figures award-steps"),
    _forge(
        "award_steps",
        "jackpot_id, round_key, bet_id, tier, 'approved', taken_at",
        f"award_steps WHERE {HELD}",
        "award-steps held-balance",
    ),
    _forge(
        "award_steps",
        "jackpot_id, round_key, bet_id, 'flush', step, taken_at",
        f"award_steps WHERE {MIXED}",
        "award-steps document-without-entry",
    ),
)

FIRST = f"{LOST} AND step = 1"

ENTRIES: Final = (
    _change(
        "entries",
        "amounts[1] = amounts[1] + 1",
        FIRST,
        "entry-digest entry-postings entry-unbalanced trial-balance",
    ),
    _change(
        "entries",
        "amounts[1] = 'NaN'",
        FIRST,
        "entry-digest entry-postings entry-inexact entry-unbalanced trial-balance",
    ),
    _change(
        "entries",
        "amounts[1] = amounts[1] - 1, amounts[2] = amounts[2] + 1",
        FIRST,
        "entry-digest entry-postings award-figures settlement-figures stripe-pools",
    ),
    _change("entries", "accounts[5] = 'house:seed'", FIRST, "entry-digest entry-postings"),
    _change("entries", "movements[1] = 'gift'", FIRST, "entry-digest entry-postings entry-unbalanced"),
    _change("entries", "digest = sha256(digest)", FIRST, "entry-digest chain-broken"),
    _change("entries", "head = sha256(head)", FIRST, "chain-broken"),
    _change("entries", "kind = 'voids'", FIRST, "entry-digest entry-postings document-without-entry"),
    _change("entries", "kind = 'gift'", FIRST, "entry-digest entry-kind entry-underivable document-without-entry"),
    _change("entries", "principal = 'somebody'", FIRST, "entry-digest"),
    _change("entries", "step = 9", f"{LOST} AND step = 2", "entry-digest round-steps document-without-entry"),
    _change(
        "entries",
        "round_key = NULL, step = NULL",
        f"{LOST} AND step = 2",
        "entry-kind document-without-entry round-steps round-state round-ending",
    ),
    _change("entries", "booked_at = booked_at + interval '1 day'", FIRST, "booked-at-falls chain-broken"),
    _change("entries", "booked_at = booked_at + interval '1 us'", "jackpot_id = '-' AND seq = 1", "chain-broken"),
    _change("entries", "received_at = received_at - interval '1 us'", "jackpot_id = '-' AND seq = 1", "entry-digest"),
    _remove(
        "entries",
        FIRST,
        "seq-gap chain-broken entry-postings award-figures settlement-figures stripe-pools cut-reserve "
        "reserve-negative document-without-entry round-opened round-steps",
    ),
    _remove(
        "entries",
        "jackpot_id = 'capped' AND stripe_no = 0 AND seq = 1",
        "seq-gap chain-broken entry-postings award-figures settlement-figures stripe-pools jackpot-opening act-effects",
    ),
    _forge(
        "entries",
        "jackpot_id, 7, 1, kind, principal, NULL::bigint, NULL::int, received_at, booked_at, digest, head, accounts, "
        "currencies, amounts, movements",
        "entries WHERE kind = 'jackpot_opened'",
        "stripe-missing chain-broken entry-kind",
    ),
)

STRIPE = "jackpot_id = 'live' AND stripe_no = 1"

STRIPES: Final = (
    _change("stripes", "meter_players = meter_players + 1", STRIPE, "stripe-pools"),
    _change("stripes", "seq = seq + 1", STRIPE, "stripe-end"),
    _change("stripes", "head = sha256(head)", STRIPE, "stripe-end"),
    _change("stripes", "booked_at = '-infinity'", STRIPE, "stripe-end"),
    _change("stripes", "accepting = false", STRIPE, "stripe-accepting"),
    _remove("stripes", "jackpot_id = 'live' AND stripe_no = 2", "stripe-missing settlement-positions"),
    _change("stripes", "added_by = 2", STRIPE, "stripe-addition"),
    _change("stripes", "added_by = 1", "jackpot_id = 'capped' AND stripe_no = 5", "entry-digest settlement-positions"),
    _forge("stripes", "'x', 0, 0, head, 0, 0, 0, 0, true, booked_at, 1", "stripes", "book-unknown"),
    _change(
        "cycles",
        "cut[1] = cut[1] + 1",
        "jackpot_id = 'live' AND cycle = 2",
        "entry-digest entry-postings cut-reserve hit-cycle",
    ),
    _change(
        "cycles",
        "cut[3] = cut[3] + 5",
        "jackpot_id = 'live' AND cycle = 2",
        "entry-digest entry-postings cycle-cut cuts-cross cut-reserve hit-cycle settlement-positions "
        "cancellation-cycle",
    ),
    _change(
        "cycles",
        "rules_version = 2",
        "jackpot_id = 'live' AND cycle = 3",
        "entry-digest rules-missing entry-underivable",
    ),
    _remove("cycles", "jackpot_id = 'live' AND cycle = 3", "entry-digest hit-cycle"),
    _remove("cycles", "jackpot_id = 'live' AND cycle = 1", "cycle-gap jackpot-opening entry-underivable"),
    _forge(
        "cycles",
        "jackpot_id, 4, rules_version, stripe_no, seq, cut",
        "cycles WHERE jackpot_id = 'live' AND cycle = 3",
        "cuts-cross",
    ),
    _forge(
        "cycles",
        "jackpot_id, 3, 1, stripe_no, seq, (SELECT cut[1:entries.stripe_no] || entries.seq || "
        "cut[entries.stripe_no + 2:] FROM cycles WHERE jackpot_id = 'cyber' AND cycle = 2)",
        f"entries WHERE {_in('early')} AND kind = 'voids'",
        "hit-cycle settlement-cycle settlement-figures",
    ),
)

REFERENCES: Final = (
    _change("casinos", "name = 'Uno'", "casino_id = 'c1'", "entry-digest"),
    _remove("casinos", "casino_id = 'c2'", "entry-digest table-binding"),
    _remove("casinos", "casino_id = 'c1'", "entry-digest table-binding key-binding"),
    _forge("casinos", "'c3', 'Three', 1", "casinos", "document-without-entry"),
    _forge("casinos", "'c3', 'Three', 99", "casinos", "document-without-entry"),
    _change("tables", "jackpot_id = 'cyber'", "table_id = 'H1'", "entry-digest"),
    _change("tables", "jackpot_id = 'nowhere'", "table_id = 'H1'", "entry-digest table-binding"),
    _change("tables", "casino_id = 'c9'", "table_id = 'H1'", "entry-digest table-binding"),
    _change("tables", "game = 'bingo'", "table_id = 'H1'", "entry-digest"),
    _remove("tables", "table_id = 'K1'", "entry-digest round-table"),
    _change("principals", "role = 'operator', casino_id = NULL", "name = 'srv'", "entry-digest"),
    _change("keys", "table_ids = '{T9}'", "principal = 'srv'", "entry-digest key-binding"),
    _change("keys", "secret_hash = sha256(secret_hash)", "principal = 'srv'", "entry-digest"),
    _change("keys", "revoked_at = now()", "principal = 'srv'", "key-revocation"),
    _remove("keys", "principal = 'srv'", "entry-digest"),
    _forge(
        "keys",
        "'forged', secret_hash, principal, table_ids, NULL::timestamptz, entry_seq",
        "keys WHERE principal = 'ann'",
        "document-without-entry",
    ),
    _change("rate_sheets", "effective_at = effective_at + interval '1 us'", "number = 2", "entry-digest sheet-change"),
    _change(
        "rate_sheets",
        "effective_at = effective_at + interval '1 day'",
        "number = 2",
        "entry-digest round-pins sheet-change",
    ),
    _remove("rate_sheets", "number = 2", "entry-digest round-pins sheet-rates"),
    _change(
        "rates",
        "base_per_unit = 1.3000000001",
        "number = 2 AND currency = 'GBP'",
        "entry-digest entry-postings round-weight award-figures settlement-figures sheet-change",
    ),
    _change(
        "rates",
        "exponent = 0",
        "number = 1 AND currency = 'EUR'",
        "entry-digest entry-postings bet-stake round-weight award-figures settlement-figures",
    ),
    _remove("rates", "number = 2 AND currency = 'JPY'", "entry-digest bet-stake entry-underivable sheet-change"),
    _remove("rates", "number = 1 AND currency = 'EUR'", "entry-digest bet-stake sheet-rates entry-underivable"),
)

JACKPOTS: Final = (
    _change(
        "jackpots",
        "base = 'USD'",
        "jackpot_id = 'cyber'",
        "entry-postings jackpot-base round-pins entry-underivable",
    ),
    _remove("jackpots", "jackpot_id = 'cyber'", "book-unknown table-binding"),
    _forge("jackpots", "'ghost', 'EUR'", "jackpots", "stripe-missing cycle-gap jackpot-opening"),
    _change(
        "rules_versions",
        """document = jsonb_set(document, '{largest_stake}', '"101"')""",
        "jackpot_id = 'live'",
        "entry-digest",
    ),
    _change(
        "rules_versions",
        """document = jsonb_set(document, '{split,meter}', '"0.46"')""",
        "jackpot_id = 'live'",
        "entry-digest entry-postings award-figures settlement-figures",
    ),
    _change(
        "rules_versions",
        """document = jsonb_set(document, '{note}', '"x"')""",
        "jackpot_id = 'live'",
        "rules-document",
    ),
    _change("rules_versions", "document = '{}'", "jackpot_id = 'live'", "rules-document entry-underivable"),
    _forge(
        "rules_versions",
        "jackpot_id, 2, document, 99",
        "rules_versions WHERE jackpot_id = 'live'",
        "document-without-entry",
    ),
    _remove("rules_versions", "jackpot_id = 'live'", "rules-missing round-pins entry-underivable"),
)

CHANGES: Final = (
    _change("acts", "reason = 'a whim'", "decides = 'new-rates' AND before ? 'state'", "entry-digest change-record"),
    _change("acts", "subject = 'x'", "request_id = 'pending'", "entry-digest change-record"),
    _change("acts", "request_id = 'x'", "request_id = 'pending'", "entry-digest change-record"),
    _change("acts", "decides = NULL", "decides = 'new-rates' AND before ? 'rates'", "entry-digest change-done"),
    _change("acts", "after = '{}'", "subject = 'casino c1'", "entry-digest"),
    _change("acts", "before = NULL", "decides = 'new-rates' AND before ? 'rates'", "entry-digest"),
    _change("acts", "decides = 'new-rates'", "subject = 'casino c1'", "entry-digest change-done"),
    _change(
        "acts",
        "effects = '[]'",
        "subject = 'jackpot cyber'",
        "entry-digest entry-kind act-record document-without-entry",
    ),
    _change(
        "acts",
        """effects = effects || '{"book": "live", "seq": 999, "kind": "adjustment", "recorded": {}}'""",
        "subject = 'casino c1'",
        "entry-digest act-effects act-record",
    ),
    _remove("acts", "subject = 'casino c1'", "entry-digest document-without-entry"),
    _forge("acts", "999, 'f', NULL, 'x', NULL, NULL, NULL, NULL, '{}', '[]'", "acts", "document-without-entry"),
    _change("change_requests", "reason = 'a whim'", "request_id = 'pending'", "change-record"),
    _change("change_requests", "maker = 'Ruth'", "request_id = 'pending'", "change-record"),
    _change("change_requests", "maker = 'Ruth'", "request_id = 'new-rates'", "change-record change-people"),
    _change("change_requests", "base_version = '9'", "request_id = 'pending'", "entry-digest"),
    _change("change_requests", "payload = '{}'", "request_id = 'new-rates'", "entry-digest sheet-change"),
    _change("change_requests", "payload = '{}'", "request_id = 'pending'", "entry-digest"),
    _remove("change_requests", "request_id = 'pending'", "entry-digest"),
    _remove("change_requests", "request_id = 'new-rates'", "entry-digest change-record change-done"),
    _forge(
        "change_requests",
        "'forged', kind, subject, jackpot_id, payload, reason, base_version, to_confirm, maker, made_at, expires_at, "
        "entry_seq",
        "change_requests WHERE request_id = 'pending'",
        "entry-digest document-without-entry change-record",
    ),
    _change(
        "change_decisions",
        "outcome = 'rejected'",
        "request_id = 'new-rates'",
        "document-without-entry entry-digest change-done",
    ),
    _change("change_decisions", "checker = 'Rolf'", "request_id = 'new-rates'", "change-record"),
    _change(
        "change_decisions",
        "checker = 'Rita', is_emergency = true",
        "request_id = 'new-rates'",
        "entry-digest change-record",
    ),
    _change("change_decisions", "maker = 'Rolf'", "request_id = 'new-rates'", "change-people"),
    _change(
        "change_decisions", "decided_at = decided_at + interval '8 days'", "request_id = 'rejected'", "change-record"
    ),
    _remove("change_decisions", "request_id = 'rejected'", "entry-digest"),
    _remove("change_decisions", "request_id = 'new-rates'", "entry-digest change-done"),
)

CORRUPTIONS: Final = (
    *BETS,
    *ROUNDS,
    *ENDINGS,
    *SETTLEMENTS,
    *ENTRIES,
    *STRIPES,
    *REFERENCES,
    *JACKPOTS,
    *CHANGES,
)
