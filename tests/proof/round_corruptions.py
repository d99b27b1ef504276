"""What somebody with every right might change of the rounds of `history`, and the codes by which the proof names it."""

from typing import Final

from tests.proof.corruption import change, forge, in_round, refact, remove

HIT, LOST, MIXED, PART, HELD, VOIDED, OPEN = map(in_round, ("hit", "lost", "mixed", "part", "held", "voided", "open"))

MISDEAL = "facts ->> 'reason' = 'misdeal'"

# What follows when a live bet of a settled round is there no more, or one more is.
ANOTHER_BET = "entry-digest entry-postings result-count round-bet-count round-weight settlement-figures"
OTHER_AWARDS = "entry-digest entry-postings award-figures award-steps settlement-figures"

BETS: Final = (
    change(
        "bets",
        "stake_minor = stake_minor + 1",
        f"{HIT} AND bet_id = 'b'",
        "entry-digest entry-postings round-weight award-figures settlement-figures day-figures",
    ),
    change(
        "bets",
        "stake_minor = 20000",
        f"{OPEN} AND bet_id = 'a'",
        "entry-digest entry-postings round-weight bet-stake day-figures",
    ),
    change("bets", "player_id = 'ann'", f"{HIT} AND bet_id = 'b'", "entry-digest bet-hands"),
    change("bets", "hand = 'h2'", f"{HIT} AND bet_id = 'b'", f"{OTHER_AWARDS} day-figures"),
    change("bets", "hand = 'h9'", f"{HIT} AND bet_id = 'b'", "entry-digest result-hands day-figures"),
    change(
        "bets",
        "currency = 'USD'",
        f"{OPEN} AND bet_id = 'a'",
        "entry-digest bet-stake entry-underivable day-figures",
    ),
    change(
        "bets",
        "currency = 'GBP'",
        f"{PART} AND bet_id = 'c'",
        "entry-digest entry-postings round-weight bet-stake settlement-figures day-figures",
    ),
    change("bets", "occurred_at = occurred_at + interval '1 us'", LOST, "entry-digest"),
    change("bets", "step = 2", f"{MIXED} AND bet_id = 'a'", "entry-digest entry-postings day-figures"),
    remove("bets", LOST, f"{ANOTHER_BET} day-figures"),
    forge(
        "bets",
        "jackpot_id, round_key, 'x', step, 'zoe', hand, currency, stake_minor",
        f"bets WHERE {LOST}",
        f"{ANOTHER_BET} day-figures",
    ),
    forge("bets", "jackpot_id, 17, bet_id, step, player_id, hand, currency, stake_minor", "bets", "round-missing"),
    forge("bets", "'x', round_key, bet_id, step, player_id, hand, currency, stake_minor", "bets", "book-unknown"),
    remove(
        "voids",
        f"{VOIDED} AND bet_id = 'b'",
        f"{ANOTHER_BET} award-figures award-steps bet-hands day-figures",
    ),
    remove("voids", f"{VOIDED} AND bet_id = 'late'", "entry-digest"),
    forge(
        "voids",
        "jackpot_id, round_key, 'a', step, false",
        f"voids WHERE {VOIDED} AND bet_id = 'b'",
        f"{ANOTHER_BET} award-figures award-steps day-figures",
    ),
    change("voids", "is_tombstone = true", f"{VOIDED} AND bet_id = 'b'", "entry-digest void-bet day-figures"),
    change("voids", "step = 7", f"{VOIDED} AND bet_id = 'late'", "entry-digest document-without-entry"),
)

ROUNDS: Final = (
    change("rounds", "state = 'open'", LOST, "round-state"),
    change("rounds", "state = 'cancelled'", LOST, "round-state"),
    change("rounds", "state = 'settled'", OPEN, "round-state"),
    change("rounds", "rules_version = 2", LOST, "entry-digest round-terms entry-underivable day-figures"),
    change("rounds", "rate_sheet = 2", LOST, "entry-digest round-terms"),
    change("rounds", "rate_sheet = 9", LOST, "entry-digest round-terms entry-underivable day-figures"),
    change("rounds", "steps = steps + 1", LOST, "round-steps"),
    change("rounds", "bet_count = bet_count + 1", LOST, "round-bet-count"),
    change("rounds", "weight = weight + 0.01", LOST, "round-weight"),
    change("rounds", "casino_id = 'c2'", LOST, "entry-digest entry-postings round-table day-figures"),
    change("rounds", "table_id = 'T2'", LOST, "entry-digest round-table day-figures"),
    change("rounds", "round_id = 'found'", LOST, "entry-digest"),
    change("rounds", "opened_at = opened_at + interval '1 us'", LOST, "round-opened"),
    change("rounds", "game_number = '21:10:11'", LOST, "round-game-number"),
    change("rounds", "game_number = NULL", LOST, "round-game-number"),
    change("rounds", "game_number = '21:10:10'", OPEN, "round-game-number"),
    remove("rounds", LOST, "round-missing"),
)

ENDINGS: Final = (
    refact("result,bet_count", "'7'", LOST, "entry-digest result-count"),
    refact("result,dealer", """'["2h"]'""", LOST, "entry-digest result-hands"),
    refact("result,dealer", """'["5s"]'""", LOST, "entry-digest"),
    refact("result,dealer", """'5'""", LOST, "entry-digest entry-underivable day-figures"),
    refact("result,occurred_at", """'"2026-01-01T00:00:00.000000Z"'""", LOST, "entry-digest"),
    change(
        "entries",
        "facts = facts - 'result'",
        f"{LOST} AND kind = 'result'",
        "entry-digest round-ending entry-underivable day-figures",
    ),
    change("entries", """facts = '{"x": 1}'""", f"{OPEN} AND kind = 'bets'", "entry-digest round-ending"),
    refact("game_number", """'"21:10:11"'""", LOST, "entry-digest round-game-number"),
    refact("result,hands,0,2", """'["2c", "2d", "2h", "2s", "9d"]'""", LOST, OTHER_AWARDS),
    refact("result,hands,0,2", """'["2c", "3d", "5h", "7s", "9d"]'""", LOST, "entry-digest"),
    refact("result,hands,0,1", """'"dead"'""", LOST, "entry-digest entry-postings settlement-figures day-figures"),
    refact("result,hands,2,1", """'"forfeited"'""", HIT, f"{OTHER_AWARDS} prize-denied"),
    refact("result,hands", "'[]'", LOST, "entry-digest result-hands"),
    refact("reason", """'"other"'""", MISDEAL, "entry-digest"),
    refact("cycle", "'7'", MISDEAL, "entry-digest cancellation-cycle"),
    change("entries", "facts = NULL", MISDEAL, "entry-digest round-ending entry-underivable"),
    refact("voided", """'["a"]'""", VOIDED, "entry-digest"),
    refact("occurred_at", """'"2026-01-01T00:00:00.000000Z"'""", VOIDED, "entry-digest"),
)

SETTLEMENTS: Final = (
    refact("settlement,meter_before", """'"1"'""", HIT, "entry-digest settlement-figures"),
    refact("settlement,carried", "'null'", HIT, "entry-digest settlement-figures"),
    refact(
        "settlement,positions,0",
        "to_jsonb((facts #>> '{settlement,positions,0}')::int - 1)",
        HIT,
        "entry-digest entry-postings award-figures settlement-figures hit-cycle",
    ),
    refact(
        "settlement,positions,0",
        "to_jsonb((facts #>> '{settlement,positions,0}')::int + 1)",
        LOST,
        "entry-digest settlement-figures settlements-cross",
    ),
    refact("settlement,cycle", "'7'", LOST, "entry-digest settlement-cycle"),
    refact("settlement,policy", """'"minor_first"'""", PART, "entry-digest settlement-figures"),
    refact("settlement,entitlements", "'[]'", PART, "entry-digest settlement-figures"),
    refact("settlement,entitlements,0,tier", """'"x"'""", PART, "entry-digest settlement-figures"),
    change(
        "entries",
        "facts = facts - 'settlement'",
        f"{LOST} AND kind = 'result'",
        "entry-digest round-ending entry-underivable",
    ),
    change(
        "awards",
        "amount_minor = amount_minor + 1",
        f"{HIT} AND bet_id = 'a'",
        "entry-digest award-figures day-figures",
    ),
    change("awards", "funded_by = 'meter'", MIXED, "entry-digest award-figures day-figures"),
    change("awards", "award_id = 'aw_'", MIXED, "award-id"),
    remove("awards", f"{HIT} AND bet_id = 'a'", "entry-digest award-figures document-without-entry day-figures"),
    forge(
        "awards",
        "jackpot_id, round_key, 'a', 'flush', 0, 'x', 1, 'EUR', 0.01, 'meter'",
        f"rounds WHERE {LOST}",
        "entry-digest award-figures day-figures",
    ),
    forge(
        "awards",
        "jackpot_id, round_key, 'a', 'flush', 0, 'x', 1, 'EUR', 0.01, 'meter'",
        f"rounds WHERE {OPEN}",
        "document-without-entry",
    ),
    change(
        "award_steps",
        "step = 'payable'",
        f"{HELD} AND bet_id = 'a'",
        "entry-digest award-figures award-steps held-balance day-figures",
    ),
    change("award_steps", "step = 'stopped'", MIXED, "entry-digest award-figures award-steps day-figures"),
    change("award_steps", "taken_at = taken_at + interval '1 us'", MIXED, "award-steps"),
    remove("award_steps", MIXED, "entry-digest award-figures award-steps day-figures"),
    forge(
        "award_steps",
        "jackpot_id, round_key, bet_id, tier, 0, 'approved', taken_at",
        f"award_steps WHERE {HELD}",
        "award-steps held-balance",
    ),
    forge(
        "award_steps",
        "jackpot_id, round_key, bet_id, 'flush', 0, step, taken_at",
        f"award_steps WHERE {MIXED}",
        "award-steps document-without-entry",
    ),
)

CORRUPTIONS: Final = (*BETS, *ROUNDS, *ENDINGS, *SETTLEMENTS)
