"""Each way to pay several winners has a phrase that a person reads."""

from jackpot_service.domain.rules import Policy
from jackpot_service.pages.policy_words import POLICY_PHRASES


def test_every_policy_has_a_phrase_of_its_own() -> None:
    assert set(POLICY_PHRASES) == set(Policy)
    assert len(set(POLICY_PHRASES.values())) == len(Policy)


def test_no_phrase_uses_the_words_of_the_rulebook() -> None:
    names = {name for policy in Policy for name in (policy.value, policy.value.replace("_", " "))}
    assert not [phrase for phrase in POLICY_PHRASES.values() if any(name in phrase for name in names)]
