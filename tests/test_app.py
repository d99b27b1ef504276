"""How an application is put together."""

from jackpot_service.app import shares_of


def test_a_connection_is_left_to_others_whatever_reports_have_and_the_loop_keeps() -> None:
    for connections in range(2, 101):
        shares = shares_of(connections)
        assert 1 <= shares.reports <= shares.most_reports
        assert min(shares) >= 0
        assert shares.bets + shares.meters <= connections / 3
        assert shares.bets + shares.meters + shares.most_reports < connections
