"""A program with a generated client: it plays a round, is refused, and asks for a change and a job of some kinds."""

import sys

from jackpot_api import AuthenticatedClient
from jackpot_api.api.change_requests import post_change
from jackpot_api.api.jobs import post_job
from jackpot_api.api.meters import get_meter
from jackpot_api.api.rounds import post_bets, put_result
from jackpot_api.models import (
    BetConflictProblem,
    Bets,
    BetsAccepted,
    BetsBet,
    Hand,
    JournalJob,
    JournalJobRequest,
    JournalParameters,
    RateSheetChange,
    RateSheetChangeRequest,
    RateSheetPayload,
    RateSheetPayloadRates,
    Result,
    RoundSettled,
    ShownMeter,
)


def main(url: str, of_server: str, of_rates: str, of_auditor: str) -> None:
    """Call the service at an address with the keys of a table server, of somebody for rates and of an auditor."""
    server, rates, auditor = (AuthenticatedClient(base_url=url, token=key) for key in (of_server, of_rates, of_auditor))
    play(server)
    ask(rates)
    export(auditor)


def play(server: AuthenticatedClient) -> None:
    bets = [
        BetsBet(bet_id="b1", player_id="ann", currency="EUR", stake_minor=100),
        BetsBet(bet_id="b2", player_id="bob", currency="GBP", stake_minor=100),
        BetsBet(bet_id="b3", player_id="cid", currency="SEK", stake_minor=1000),
    ]
    accepted = post_bets.sync("T1", "R1", client=server, body=Bets(bets=bets))
    assert isinstance(accepted, BetsAccepted), accepted
    assert (accepted.accepted, accepted.meter.amount_exact) == (3, "5434.05")

    other = BetsBet(bet_id="b1", player_id="ann", currency="EUR", stake_minor=700)
    conflict = post_bets.sync("T1", "R1", client=server, body=Bets(bets=[other]))
    assert isinstance(conflict, BetConflictProblem), conflict
    assert (conflict.bet_ids, conflict.errors[0].pointer) == (["b1"], "/bets/0")

    royal_flush = [Hand(hand="1", cards=["As", "Ks", "Qs", "Js", "Ts"])]
    settled = put_result.sync("T1", "R1", client=server, body=Result(bet_count=3, hands=royal_flush))
    assert isinstance(settled, RoundSettled), settled
    awards = [(award.amount_minor, award.currency) for award in settled.settlement.awards]
    assert awards == [(178575, "EUR"), (178575, "GBP"), (1785754, "SEK")]

    meter = get_meter.sync("live", client=server, currency="EUR,GBP")
    assert isinstance(meter, ShownMeter), meter
    assert [(amount.currency, amount.amount) for amount in meter.amounts] == [("EUR", "0.16"), ("GBP", "0.13")]


def ask(rates: AuthenticatedClient) -> None:
    payload = RateSheetPayload(base="EUR", rates=RateSheetPayloadRates.from_dict({"GBP": "1.18"}))
    request = RateSheetChangeRequest(request_id="q1", reason="as the market moved", kind="rate-sheet", payload=payload)
    change = post_change.sync(client=rates, body=request)
    assert isinstance(change, RateSheetChange), change
    assert change.payload.rates["GBP"] == "1.18"


def export(auditor: AuthenticatedClient) -> None:
    parameters = JournalParameters(jackpot_id="live", format_="beancount")
    job = post_job.sync(client=auditor, body=JournalJobRequest(request_id="j1", kind="journal", parameters=parameters))
    assert isinstance(job, JournalJob), job
    assert job.parameters.base == "EUR"


if __name__ == "__main__":
    main(*sys.argv[1:])
