"""The kinds of job there are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from jackpot_service.exports.jobs.journal import journal
from jackpot_service.exports.jobs.kinds import Kind
from jackpot_service.exports.jobs.report import report

KINDS: Final[Mapping[str, Kind[Any]]] = MappingProxyType({kind.name: kind for kind in (journal(), report())})
