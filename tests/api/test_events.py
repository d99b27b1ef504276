"""Events over HTTP."""
from tests.support.house import House
from tests.support import telling
from jackpot_service.reports.events.event import EventType
import json

def test_try(house: House) -> None:
    telling.bring_about_everything(house)
    all_ = telling.follow(house)
    for e in all_:
        print(json.dumps(e))
    print(len(all_), set(t.value for t in EventType) - {e["type"] for e in all_})
    for limit in (1, 2, 3, 7):
        assert telling.follow(house, limit=limit) == all_
    assert 0
