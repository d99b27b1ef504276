"""The checks of a running site: after each fault those of its calls, at the end all of them."""

import random
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.chaos import books, program, replays
from tests.chaos.audit import audit, unknown
from tests.chaos.books import Books
from tests.chaos.call_log import SUFFIX, CallLog, CallReader, rounds_of
from tests.chaos.caller import Caller
from tests.chaos.calls import Call, RoundName
from tests.chaos.service import HOST
from tests.chaos.site import Site
from tests.chaos.sums import sums
from tests.chaos.timing import hung
from tests.chaos.violations import Fact, Violation

AUDITOR = "auditor"


@dataclass
class Checker:
    """Holds what a site's table servers noted against its books; each violation is reported once."""

    site: Site
    _seen: set[tuple[Fact, str]] = field(default_factory=set)

    def check_since(self, since_s: float) -> tuple[Violation, ...]:
        """
        Check the calls of some time while others go on.

        The calls are read before the books: whatever was acknowledged until then must be there.
        """
        self.site.reader.update()
        recent = rounds_of(self.site.reader.calls(since_s=since_s))
        calls = [call for call in self.site.reader.calls() if call.content.round in recent]
        return self._new((*audit(calls, self._read(recent), knows_all_calls=False), *hung(calls)))

    def check_all(self) -> tuple[Violation, ...]:
        """
        Check every call and every sum; make the unknown calls again, and some of the others, and check once more.

        Nobody plays any more, and the service runs.
        """
        violations = list(self._audited())
        calls = self.site.reader.calls()
        again = (*unknown(calls), *replays.sample(calls, seed=self.site.generators.seed))
        before = self._read(rounds_of(again))
        self._replay(again)
        violations += self._audited()
        violations += replays.judged(self.site.reader, AUDITOR, before)
        still = unknown(self.site.reader.calls())
        violations += [Violation(Fact.LOST, call.content.path, "no answer at a replay either") for call in still]
        return self._new((*violations, *self._logged(), *self._verified()))

    def _audited(self) -> Iterator[Violation]:
        """Hold all calls, and all sums, against the books."""
        self.site.reader.update()
        calls, there = self.site.reader.calls(), books.read_all(program.plain(self.site.database.owner_url))
        yield from audit(calls, there)
        yield from sums(there)
        yield from hung(calls)

    def _read(self, names: Collection[RoundName]) -> Books:
        return books.read_rounds(program.plain(self.site.database.owner_url), names)

    def _replay(self, again: Sequence[Call]) -> None:
        chance = random.Random(self.site.generators.seed)
        log = CallLog(self.site.directory / f"{AUDITOR}{SUFFIX}")
        caller = Caller(AUDITOR, (HOST, self.site.service.port), log, threading.Event(), chance)
        replays.make_again(again, caller, self.site.world.keys)
        caller.hang_up()

    def _logged(self) -> Iterator[Violation]:
        """Look for what the service itself said of its books."""
        lines = self.site.service.log.read_text(errors="replace").splitlines()
        broken = [line for line in lines if program.BOOKS_BROKEN in line]
        yield from (Violation(Fact.NOT_VERIFIED, "the log", line[:500]) for line in broken[:1])

    def _verified(self) -> Iterator[Violation]:
        done = program.jackpot("verify", url=program.service_url(self.site.database.owner_url), may_fail=True)
        if done.returncode:
            yield Violation(Fact.NOT_VERIFIED, "the books", (done.stdout + done.stderr).strip()[-500:])

    def _new(self, violations: Iterable[Violation]) -> tuple[Violation, ...]:
        """Return those that were not reported before."""
        new = {
            (violation.fact, f"{violation.place} {violation.detail if violation.fact is Fact.HUNG else ''}"): violation
            for violation in violations
        }
        fresh = tuple(violation for key, violation in new.items() if key not in self._seen)
        self._seen |= new.keys()
        return fresh


def reader_of(site: Site) -> CallReader:
    """Return the site's reader, brought up to date."""
    site.reader.update()
    return site.reader
