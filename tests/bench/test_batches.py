import json

from bench import batches


def _body(request: bytes) -> dict[str, list[dict[str, str]]]:
    head, _, body = request.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    content: dict[str, list[dict[str, str]]] = json.loads(body)
    return content


def test_a_filled_request_has_ids_of_its_own_and_nothing_else_is_changed() -> None:
    template = batches.bets_template("T1", key="k", bets=3)

    first, second = (_body(batches.fill(template, serial)) for serial in (1, 2))

    ids = [bet["bet_id"] for content in (first, second) for bet in content["bets"]]
    assert len(set(ids)) == 6
    assert ids == sorted(ids)
    assert [bet["player_id"] for bet in first["bets"]] == [bet["player_id"] for bet in second["bets"]]


def test_the_batches_of_one_round_share_no_bet_and_no_player() -> None:
    parts = [batches.bets_template("T1", key="k", bets=2, first=first) for first in (0, 2)]

    bets = [bet for part in parts for bet in _body(batches.fill(part, 1))["bets"]]

    assert len({bet["bet_id"] for bet in bets}) == len({bet["player_id"] for bet in bets}) == 4


def test_bets_and_result_of_one_serial_number_are_of_the_same_round() -> None:
    templates = batches.bets_template("T1", key="k", bets=1), batches.royal_flush_template("T1", key="k", bets=1)

    bets, result = (batches.fill(template, 7).split(b" ")[1].rpartition(b"/")[0] for template in templates)

    assert bets == result
