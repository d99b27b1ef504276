"""The checks of a running site: after each fault those of its calls, at the end all of them."""

import random
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tests.chaos import books, program, replays
from tests.chaos.audit import audit, unknown
from tests.chaos.call_log import CallLog, CallReader, rounds_of
from tests.chaos.caller import Caller
from tests.chaos.calls import Call
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
        there = books.read_rounds(program.plain(self.site.database.owner_url), recent)
        return self._new((*audit(calls, there, knows_all_calls=False), *hung(calls)))

    def check_all(self) -> tuple[Violation, ...]:
        """
        Check every call and every sum; make the unknown calls again, and some of the others, and check once more.

        Nobody plays any more, and the service runs.
        """
        url = program.plain(self.site.database.owner_url)
        self.site.reader.update()
        calls, before = self.site.reader.calls(), books.read_all(url)
        found = [*audit(calls, before), *sums(before), *hung(calls)]
        self._replay(calls)
        self.site.reader.update()
        calls, after = self.site.reader.calls(), books.read_all(url)
        found += [*audit(calls, after), *sums(after), *replays.judged(self.site.reader, AUDITOR, before)]
        found += [Violation(Fact.LOST, call.content.path, "no answer at a replay either") for call in unknown(calls)]
        return self._new((*found, *self._verify()))

    def _replay(self, calls: Collection[Call]) -> None:
        chance = random.Random(self.site.generators.seed)
        log = CallLog(self.site.directory / f"{AUDITOR}.calls")
        caller = Caller(AUDITOR, (HOST, self.site.service.port), log, threading.Event(), chance)
        again = (*unknown(calls), *replays.sample(tuple(calls), seed=self.site.generators.seed))
        replays.make_again(again, caller, self.site.world.keys)
        caller.hang_up()

    def _verify(self) -> tuple[Violation, ...]:
        done = program.jackpot("verify", url=program.service_url(self.site.database.owner_url), may_fail=True)
        if done.returncode == 0:
            return ()
        return (Violation(Fact.NOT_VERIFIED, "the books", (done.stdout + done.stderr).strip()[-500:]),)

    def _new(self, found: Iterable[Violation]) -> tuple[Violation, ...]:
        """Return those that were not reported before."""
        new = {(one.fact, f"{one.place} {one.detail if one.fact is Fact.HUNG else ''}"): one for one in found}
        fresh = tuple(one for key, one in new.items() if key not in self._seen)
        self._seen |= new.keys()
        return fresh


def reader_of(site: Site) -> CallReader:
    """Return the site's reader, brought up to date."""
    site.reader.update()
    return site.reader
