"""How several winners of a round are paid, in a phrase for each policy."""

from collections.abc import Mapping
from typing import Final

from jackpot_service.domain.rules import Policy

POLICY_PHRASES: Final[Mapping[Policy, str]] = {
    Policy.SHARED_BY_STAKE: "all bettors of the round share the meter in proportion to their stakes",
    Policy.AGGREGATE_PRO_RATA: (
        "each prize is calculated from the whole meter; if all prizes together are more than the meter, all are "
        "reduced by the same factor"
    ),
    Policy.MINOR_FIRST: "the lower prizes are paid first, and the royal flushes share the rest equally",
    Policy.EQUAL_SHARE: (
        "winners of the same prize share it equally; if all prizes together are more than the meter, all are reduced "
        "by the same factor"
    ),
}
"""The phrases of pages, where the rulebook has the policy's word."""
