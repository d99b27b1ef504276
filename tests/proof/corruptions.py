"""What somebody with every right might change in the books of `history`, and the codes by which the proof names it."""

from typing import Final

from tests.proof import round_corruptions
from tests.proof.corruption import change, forge, in_round, remove

LOST = in_round("lost")

FIRST = f"{LOST} AND step = 1"

ENTRIES: Final = (
    change(
        "entries",
        "amounts[1] = amounts[1] + 1",
        FIRST,
        "entry-digest entry-postings entry-unbalanced trial-balance",
    ),
    change(
        "entries",
        "amounts[1] = 'NaN'",
        FIRST,
        "entry-digest entry-postings entry-inexact entry-unbalanced trial-balance",
    ),
    change(
        "entries",
        "amounts[1] = amounts[1] - 1, amounts[2] = amounts[2] + 1",
        FIRST,
        "entry-digest entry-postings award-figures settlement-figures stripe-pools day-figures",
    ),
    change("entries", "accounts[5] = 'house:seed'", FIRST, "entry-digest entry-postings day-figures"),
    change("entries", "movements[1] = 'gift'", FIRST, "entry-digest entry-postings entry-unbalanced"),
    change("entries", "digest = sha256(digest)", FIRST, "entry-digest chain-broken"),
    change("entries", "head = sha256(head)", FIRST, "chain-broken"),
    change(
        "entries",
        "kind = 'voids'",
        FIRST,
        "entry-digest entry-postings document-without-entry round-ending day-figures",
    ),
    change(
        "entries",
        "kind = 'gift'",
        FIRST,
        "entry-digest entry-kind entry-underivable document-without-entry day-figures",
    ),
    change("entries", "principal = 'somebody'", FIRST, "entry-digest"),
    change("entries", "step = 9", f"{LOST} AND step = 2", "entry-digest round-steps"),
    change(
        "entries",
        "round_key = NULL, step = NULL",
        f"{LOST} AND step = 2",
        "entry-kind round-steps round-state day-figures",
    ),
    change("entries", "booked_at = booked_at + interval '1 day'", FIRST, "booked-at-falls chain-broken day-figures"),
    change(
        "entries",
        "received_at = received_at - interval '120 years'",
        FIRST,
        "entry-digest booked-ahead round-opened",
    ),
    change(
        "entries",
        "booked_at = '2126-01-01'",
        "jackpot_id = '-' AND seq = 1",
        "booked-at-falls chain-broken booked-ahead stripe-end",
    ),
    change("entries", "principal = 'Ruth'", "jackpot_id = '-' AND seq = 1", "entry-digest act-principal"),
    change("entries", "principal = 'srv'", "kind = 'change_rejected'", "entry-digest act-principal change-record"),
    change("entries", "principal = 'Ruth'", "kind = 'stripes_added' AND jackpot_id = 'capped'", "entry-digest"),
    change("entries", "booked_at = booked_at + interval '1 us'", "jackpot_id = '-' AND seq = 1", "chain-broken"),
    change("entries", "received_at = received_at - interval '1 us'", "jackpot_id = '-' AND seq = 1", "entry-digest"),
    remove(
        "entries",
        FIRST,
        "seq-gap chain-broken entry-postings award-figures settlement-figures stripe-pools cut-reserve "
        "reserve-negative document-without-entry round-opened round-game-number round-steps day-figures",
    ),
    remove(
        "entries",
        "jackpot_id = 'capped' AND stripe_no = 0 AND seq = 1",
        "seq-gap chain-broken entry-postings award-figures settlement-figures stripe-pools jackpot-opening act-effects "
        "day-figures",
    ),
    forge(
        "entries",
        "jackpot_id, 7, 1, kind, principal, NULL::bigint, NULL::int, received_at, booked_at, digest, head, accounts, "
        "currencies, amounts, movements, casino_id, table_id, rules_version, figures",
        "entries WHERE kind = 'jackpot_opened'",
        "stripe-missing chain-broken entry-kind",
    ),
)

STRIPE = "jackpot_id = 'live' AND stripe_no = 1"
IDLE = "jackpot_id = 'capped' AND stripe_no = 5"
"""Added, and never booked on."""

STRIPES: Final = (
    change("stripes", "meter_players = meter_players + 1", STRIPE, "stripe-pools"),
    change("stripes", "seq = seq + 1", STRIPE, "stripe-end"),
    change("stripes", "head = sha256(head)", STRIPE, "stripe-end"),
    change("stripes", "booked_at = '-infinity'", STRIPE, "stripe-end"),
    change("stripes", "booked_at = booked_at + interval '100 years'", STRIPE, "booked-ahead"),
    change("stripes", "booked_at = booked_at - interval '1 year'", STRIPE, "stripe-end"),
    change("stripes", "booked_at = booked_at - interval '1 us'", IDLE, "stripe-end"),
    change("stripes", "accepting = false", STRIPE, "stripe-accepting"),
    remove("stripes", "jackpot_id = 'live' AND stripe_no = 2", "stripe-missing settlement-positions day-figures"),
    change("stripes", "added_by = 2", STRIPE, "stripe-addition"),
    change("stripes", "added_by = 1", "jackpot_id = 'capped' AND stripe_no = 5", "entry-digest settlement-positions"),
    forge("stripes", "'x', 0, 1, 0, head, 0, 0, 0, 0, true, booked_at", "stripes", "book-unknown"),
    change(
        "cycles",
        "cut[1] = cut[1] + 1",
        "jackpot_id = 'live' AND cycle = 2",
        "entry-digest entry-postings cut-reserve hit-cycle day-figures",
    ),
    change(
        "cycles",
        "cut[3] = cut[3] + 5",
        "jackpot_id = 'live' AND cycle = 2",
        "entry-digest entry-postings cycle-cut cuts-cross cut-reserve hit-cycle settlement-positions "
        "cancellation-cycle day-figures",
    ),
    change(
        "cycles",
        "rules_version = 2",
        "jackpot_id = 'live' AND cycle = 3",
        "entry-digest rules-missing entry-underivable",
    ),
    remove("cycles", "jackpot_id = 'live' AND cycle = 3", "entry-digest hit-cycle"),
    remove("cycles", "jackpot_id = 'live' AND cycle = 1", "cycle-gap jackpot-opening entry-underivable day-figures"),
    forge(
        "cycles",
        "jackpot_id, 4, rules_version, stripe_no, seq, cut",
        "cycles WHERE jackpot_id = 'live' AND cycle = 3",
        "cuts-cross",
    ),
    forge(
        "cycles",
        "jackpot_id, 3, 1, stripe_no, seq, (SELECT cut[1:entries.stripe_no] || entries.seq || "
        "cut[entries.stripe_no + 2:] FROM cycles WHERE jackpot_id = 'cyber' AND cycle = 2)",
        f"entries WHERE {in_round('early')} AND kind = 'voids'",
        "hit-cycle settlement-cycle settlement-figures day-figures stripe-end",
    ),
)

REFERENCES: Final = (
    change("casinos", "name = 'Uno'", "casino_id = 'c1'", "entry-digest"),
    remove("casinos", "casino_id = 'c2'", "entry-digest table-binding day-figures"),
    remove("casinos", "casino_id = 'c1'", "entry-digest table-binding key-binding"),
    change("casinos", "zone = 'America/Chicago'", "casino_id = 'c2'", "entry-digest"),
    change("casinos", "day_starts = '02:00'", "casino_id = 'c2'", "entry-digest day-figures"),
    forge("casinos", "'c3', 'Three', 1, zone, day_starts", "casinos", "document-without-entry"),
    forge("casinos", "'c3', 'Three', 99, zone, day_starts", "casinos", "document-without-entry"),
    change("tables", "jackpot_id = 'cyber'", "table_id = 'H1'", "entry-digest"),
    change("tables", "jackpot_id = 'nowhere'", "table_id = 'H1'", "entry-digest table-binding"),
    change("tables", "casino_id = 'c9'", "table_id = 'H1'", "entry-digest table-binding"),
    change("tables", "game = 'bingo'", "table_id = 'H1'", "entry-digest"),
    remove("tables", "table_id = 'K1'", "entry-digest round-table"),
    change("principals", "role = 'operator', casino_id = NULL", "name = 'srv'", "entry-digest"),
    change("keys", "table_ids = '{T9}'", "principal = 'srv'", "entry-digest key-binding"),
    change("keys", "secret_hash = sha256(secret_hash)", "principal = 'srv'", "entry-digest"),
    change("keys", "revoked_at = now()", "principal = 'srv'", "key-revocation"),
    remove("keys", "principal = 'srv'", "entry-digest"),
    forge(
        "keys",
        "'forged', secret_hash, NULL, NULL, principal, table_ids, entry_seq",
        "keys WHERE principal = 'olga'",
        "document-without-entry",
    ),
    change("rate_sheets", "effective_at = effective_at + interval '1 us'", "number = 2", "entry-digest sheet-change"),
    change(
        "rate_sheets",
        "effective_at = effective_at + interval '1 day'",
        "number = 2",
        "entry-digest round-terms sheet-change",
    ),
    remove("rate_sheets", "number = 2", "entry-digest round-terms sheet-rates"),
    change(
        "rates",
        "base_per_unit = 1.3000000001",
        "number = 2 AND currency = 'GBP'",
        "entry-digest entry-postings round-weight award-figures settlement-figures sheet-change day-figures",
    ),
    change(
        "rates",
        "exponent = 0",
        "number = 1 AND currency = 'EUR'",
        "entry-digest entry-postings bet-stake round-weight award-figures settlement-figures day-figures",
    ),
    remove(
        "rates",
        "number = 2 AND currency = 'JPY'",
        "entry-digest bet-stake entry-underivable sheet-change day-figures",
    ),
    remove(
        "rates",
        "number = 1 AND currency = 'EUR'",
        "entry-digest bet-stake sheet-rates entry-underivable day-figures",
    ),
)

JACKPOTS: Final = (
    change(
        "jackpots",
        "base = 'USD'",
        "jackpot_id = 'cyber'",
        "entry-postings jackpot-base round-terms entry-underivable day-figures",
    ),
    remove("jackpots", "jackpot_id = 'cyber'", "book-unknown table-binding"),
    forge("jackpots", "'ghost', 'EUR'", "jackpots", "stripe-missing cycle-gap jackpot-opening"),
    change(
        "rules_versions",
        """document = jsonb_set(document, '{largest_stake}', '"101"')""",
        "jackpot_id = 'live'",
        "entry-digest",
    ),
    change(
        "rules_versions",
        """document = jsonb_set(document, '{largest_stakes}', '{"GBP": "6"}')""",
        "jackpot_id = 'live'",
        "entry-digest bet-stake",
    ),
    change(
        "rules_versions",
        """document = jsonb_set(document, '{largest_stakes}', '{}')""",
        "jackpot_id = 'live'",
        "rules-document",
    ),
    change(
        "rules_versions",
        """document = jsonb_set(document, '{split,meter}', '"0.46"')""",
        "jackpot_id = 'live'",
        "entry-digest entry-postings award-figures settlement-figures day-figures",
    ),
    change(
        "rules_versions",
        """document = jsonb_set(document, '{note}', '"x"')""",
        "jackpot_id = 'live'",
        "rules-document",
    ),
    change(
        "rules_versions",
        """document = jsonb_set(document, '{split,meter}', '"x"')""",
        "jackpot_id = 'live'",
        "rules-document entry-underivable day-figures",
    ),
    change(
        "rules_versions",
        """document = jsonb_set(document, '{split,meter}', '"4.5e-1"')""",
        "jackpot_id = 'live'",
        "rules-document day-figures",
    ),
    change(
        "rules_versions",
        """document = jsonb_set(document, '{split,meter}', to_jsonb('0.' || repeat('4', 20000)))""",
        "jackpot_id = 'live'",
        "rules-document entry-underivable day-figures",
    ),
    change("rules_versions", "document = '{}'", "jackpot_id = 'live'", "rules-document entry-underivable day-figures"),
    forge(
        "rules_versions",
        "jackpot_id, 2, document, 99",
        "rules_versions WHERE jackpot_id = 'live'",
        "document-without-entry",
    ),
    remove("rules_versions", "jackpot_id = 'live'", "rules-missing round-terms entry-underivable day-figures"),
)

CHANGES: Final = (
    change("acts", "reason = 'a whim'", "decides = 'new-rates' AND before ? 'state'", "entry-digest change-record"),
    change("acts", "subject = 'x'", "request_id = 'pending'", "entry-digest change-record"),
    change("acts", "request_id = 'x'", "request_id = 'pending'", "entry-digest change-record"),
    change(
        "acts", "decides = NULL", "decides = 'new-rates' AND before ? 'rates'", "entry-digest change-done act-principal"
    ),
    change("acts", "after = '{}'", "subject = 'casino c1'", "entry-digest"),
    change("acts", """effects = '{"x": 1}'""", "subject = 'casino c1'", "record-unreadable"),
    change("acts", "before = NULL", "decides = 'new-rates' AND before ? 'rates'", "entry-digest"),
    change("acts", "decides = 'new-rates'", "subject = 'casino c1'", "entry-digest change-done act-principal"),
    change(
        "acts",
        "effects = '[]'",
        "subject = 'jackpot cyber'",
        "entry-digest entry-kind act-record document-without-entry",
    ),
    change(
        "acts",
        """effects = effects || '{"book": "live", "seq": 999, "kind": "adjustment", "recorded": {}}'""",
        "subject = 'casino c1'",
        "entry-digest act-effects act-record",
    ),
    remove("acts", "subject = 'casino c1'", "entry-digest document-without-entry"),
    forge("acts", "999, 'f', NULL, 'x', NULL, NULL, NULL, NULL, '{}', '[]'", "acts", "document-without-entry"),
    change("change_requests", "reason = 'a whim'", "request_id = 'pending'", "change-record"),
    change("change_requests", "maker = 'Ruth'", "request_id = 'pending'", "change-record"),
    change("change_requests", "maker = 'Ruth'", "request_id = 'new-rates'", "change-record change-principal"),
    change("change_requests", "base_version = '9'", "request_id = 'pending'", "entry-digest"),
    change("change_requests", "payload = '{}'", "request_id = 'new-rates'", "entry-digest sheet-change"),
    change("change_requests", "payload = '{}'", "request_id = 'pending'", "entry-digest"),
    remove("change_requests", "request_id = 'pending'", "entry-digest"),
    remove("change_requests", "request_id = 'new-rates'", "entry-digest change-record change-done"),
    forge(
        "change_requests",
        "'forged', kind, subject, jackpot_id, payload, reason, base_version, to_confirm, maker, made_at, expires_at, "
        "approvals_due, entry_seq",
        "change_requests WHERE request_id = 'pending'",
        "entry-digest document-without-entry change-record",
    ),
    change(
        "change_decisions",
        "outcome = 'rejected'",
        "request_id = 'new-rates'",
        "document-without-entry entry-digest change-done",
    ),
    change("change_decisions", "checker = 'Rolf'", "request_id = 'new-rates'", "change-record change-principal"),
    change(
        "change_decisions",
        "checker = 'Rita', is_emergency = true",
        "request_id = 'new-rates'",
        "entry-digest change-record change-principal",
    ),
    change("change_decisions", "maker = 'Rolf'", "request_id = 'new-rates'", "change-principal"),
    change(
        "change_decisions", "is_final = false", "request_id = 'new-rates'", "entry-digest change-principal change-done"
    ),
    change("change_requests", "approvals_due = 2", "request_id = 'new-rates'", "entry-digest change-principal"),
    change("change_requests", "approvals_due = 3", "request_id = 'pending'", "entry-digest"),
    change(
        "change_decisions", "decided_at = decided_at + interval '8 days'", "request_id = 'rejected'", "change-record"
    ),
    remove("change_decisions", "request_id = 'rejected'", "entry-digest"),
    remove("change_decisions", "request_id = 'new-rates'", "entry-digest change-done"),
)

CORRUPTIONS: Final = (
    *round_corruptions.CORRUPTIONS,
    *ENTRIES,
    *STRIPES,
    *REFERENCES,
    *JACKPOTS,
    *CHANGES,
)
