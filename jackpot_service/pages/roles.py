"""The people who may see rounds, jackpots and the floor; those of a casino see their own casino only."""

from typing import Final

from jackpot_service.domain.principals import Role

WATCHERS: Final = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)
