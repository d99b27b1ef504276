"""
The service over HTTP, as the commands call it: lists are followed to their end, and problems become one message.

Nothing here knows the database or the service's own code. A call that was answered 429 or 503, or whose answer was
lost, is sent again for a while. Each act has a request id, so that it is done once.
"""

import json
import ssl
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

import click

from jackpot_service.cli import address, versions

if "httpx" not in sys.modules:
    sys.modules["httpx._main"] = None  # type: ignore[assignment]  # Its own command line, which imports rich.
import httpx

from jackpot_service.cli.remedies import REMEDIES, api_place_of, place_of
from jackpot_service.cli.repeating import (
    AGAIN,
    FIRST_PAUSE_S,
    NOT_SENT,
    PATIENCE_S,
    PROBLEM,
    Outcome,
    is_lost,
    is_of_gateway,
    is_over,
    media_type,
    named,
    pause_after,
    perhaps_done,
)
from jackpot_service.cli.subjects import subjects_of

REFUSED: Final = 1
NO_ANSWER: Final = 3

CONNECT_S: Final = 5.0
READ_S: Final = 75.0
"""A report may be read for a minute."""

PAGE: Final = 200
"""Items that are asked for at once: the most that a list gives."""

JSON: Final = "application/json"

NO_SUCH_CALL: Final = "not-found"
"""The code of a path that no call has; that of a thing that is not there is another one."""

STRANGE: Final = frozenset({"not-found", "method-not-allowed", "validation"})
"""The codes that a service of another version answers with to what it does not know."""

Item = Mapping[str, Any]


class Done(Enum):
    """Whether an act was done just now, or before; `UNSURE` if it was sent again because its answer was lost."""

    NOW = auto()
    BEFORE = auto()
    UNSURE = auto()

    def added(self) -> str:
        """Say it of what is added once."""
        return self.phrase(now="added", before="was there already", unsure="is there")

    def phrase(self, *, now: str, before: str, unsure: str) -> str:
        """Choose the words for it."""
        return {Done.NOW: now, Done.BEFORE: before, Done.UNSURE: unsure}[self]


class ServiceError(click.ClickException):
    """The service did not do it; the message says why, and what to do."""

    exit_code = REFUSED

    def show(self, file: object = None) -> None:  # noqa: ARG002  click's
        """Print the message on standard error."""
        click.echo(printable(f"jackpot: {self.format_message()}"), err=True)  # It may quote a stranger.


class Refusal(ServiceError):
    """The service refused the call by a problem (RFC 9457), whose code a program may rely on."""

    def __init__(self, message: str, problem: Item) -> None:
        super().__init__(message)
        self.code = str(problem.get("code", ""))
        self.problem = problem


class NoAnswer(ServiceError):
    """There is no answer that could be used: nobody answers, not now, or it is another service or version."""

    exit_code = NO_ANSWER


class Answer(dict[str, Any]):
    """A JSON object that the service answered with. Raises: NoAnswer for a member that it lacks."""

    def __init__(self, members: Mapping[str, Any], strange: Callable[[str], "NoAnswer"]) -> None:
        super().__init__(members)
        self._strange = strange

    def __missing__(self, name: str) -> Any:  # noqa: ANN401  as a dict
        """Say that this is no answer of this version."""
        raise self._strange(f"its answer has no {name}")

    def require_about(self, subjects: Item) -> None:
        """Raises: NoAnswer for an answer that does not state what the call was about."""
        for name, value in subjects.items():
            if self[name] != value:
                raise self._strange(f"its answer states another {name}")

    def plus(self, **members: object) -> "Answer":
        """Return a copy with further members."""
        return Answer({**self, **members}, self._strange)


class Service:
    """A service at an address, and who calls it."""

    def __init__(self, url: str, key: str | None) -> None:
        self.url = url
        self._version: str | None = None
        headers = {"Accept": f"{JSON}, {PROBLEM}", "User-Agent": "jackpot-command-line"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        # The machine's own certificates; no proxy and nothing else is taken from the environment.
        context = ssl.create_default_context() if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._client = httpx.Client(
            base_url=url,
            headers=headers,
            timeout=httpx.Timeout(READ_S, connect=CONNECT_S),
            trust_env=False,
            verify=context,
        )

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def get(self, path: str, **query: object) -> Answer:
        """Read something; a list without items has no member that shows whose it is. Raises: ServiceError."""
        answer = self.call("GET", path, query=query)
        if answer.get("items") == []:
            self._require_ledger()
        return answer

    def post(self, path: str, body: Item, **query: object) -> Answer:
        """Have something done. Raises: ServiceError."""
        return self.call("POST", path, body=body, query=query)

    def put(self, path: str, body: Item) -> Answer:
        """Have something done. Raises: ServiceError."""
        return self.call("PUT", path, body=body)

    def call(self, method: str, path: str, *, body: Item | None = None, query: Item | None = None) -> Answer:
        """Call, and return the JSON object of the answer. Raises: ServiceError."""
        return self._call(method, path, body=body, query=query)[0]

    def act(self, method: str, path: str, body: Item, **query: object) -> tuple[Answer, Done]:
        """Have something done, and return the answer and whether it was done just now (201). Raises: ServiceError."""
        return self._call(method, path, body=body, query=query)

    def _call(self, method: str, path: str, *, body: Item | None, query: Item | None) -> tuple[Answer, Done]:
        answer, was_lost = self._answer(method, path, body=body, query=query)
        repeated = Done.UNSURE if was_lost else Done.BEFORE
        done = Done.NOW if answer.status_code == HTTPStatus.CREATED else repeated
        result = self.json(answer, perhaps_done(answer.request, body))
        if method != "GET":
            result.require_about(subjects_of(path, body or {}))
        return result, done

    def json(self, answer: httpx.Response, perhaps: str = "") -> Answer:
        """Read the JSON object of an answer; `perhaps` is said if it is strange. Raises: NoAnswer if it has none."""
        self.require_type(answer, JSON, perhaps)
        return self._json(answer, perhaps)

    def require_type(self, answer: httpx.Response, expected: str, perhaps: str = "") -> None:
        """Raises: NoAnswer for an answer of another type."""
        if media_type(answer) != expected:
            why = f"it answers {answer.request.url.path} with {media_type(answer) or 'nothing'}"
            raise self._no_ledger(why, perhaps)

    def answer(
        self, method: str, path: str, *, body: Item | None = None, query: Item | None = None, accept: str | None = None
    ) -> httpx.Response:
        """Call, and return the whole answer, which is a success. Raises: ServiceError."""
        return self._answer(method, path, body=body, query=query, accept=accept)[0]

    def pages(self, path: str, query: Item, *, limit: int | None) -> Iterator[tuple[list[Item], bool]]:
        """
        Follow a list, and yield each page with whether there is more after it; at most `limit` items in all.

        Raises: ServiceError.
        """
        left, after = limit, query.get("after")
        while True:
            page_size = PAGE if left is None else min(PAGE, left)
            page = self.get(path, **{**query, "limit": page_size, "after": after})
            items, after = page["items"], page["next"]
            left = None if left is None else left - len(items)
            yield items, after is not None
            if after is None or left == 0:
                return

    def items(self, path: str, query: Item | None = None) -> Iterator[Item]:
        """Yield every item of a list. Raises: ServiceError."""
        for items, _ in self.pages(path, query or {}, limit=None):
            yield from items

    @contextmanager
    def stream(self, path: str, query: Item | None = None) -> Iterator[httpx.Response]:
        """Yield an answer whose body is read piece by piece. Raises: ServiceError."""
        until, pause = time.monotonic() + PATIENCE_S, FIRST_PAUSE_S
        while True:
            request = self._request("GET", path, query=query, accept="*/*")
            try:
                answer = self._client.send(request, stream=True)
            except NOT_SENT as error:
                raise self._unreachable(error) from None
            except httpx.RequestError as error:
                raise self._silent(error) from None
            try:
                with _whole(self.url):
                    if answer.is_success:
                        yield answer
                        return
                    answer.read()
                pause = pause_after(answer, pause)
                if is_over(answer) or time.monotonic() + pause > until:
                    raise self._error(answer)
            finally:
                answer.close()
            time.sleep(pause)
            pause *= 2

    def about(self) -> Item:
        """Return what the service says of itself to anybody; nothing if it says nothing."""
        try:
            answer = self._client.get("/v1/service", headers={"Accept": JSON})
            document = answer.json() if answer.is_success and media_type(answer) == JSON else {}
        except (httpx.HTTPError, ValueError):
            return {}
        return document if isinstance(document, dict) and document.get("service") == versions.LEDGER else {}

    def _require_ledger(self) -> str:
        """Look, once, who answers here, and return its version. Raises: NoAnswer if it is no ledger."""
        if self._version is None:
            about = self.call("GET", at("service"))
            if about["service"] != versions.LEDGER:
                raise self._no_ledger("it says that it is something else")
            self._version = str(about["version"])
        return self._version

    def _require_own_series(self) -> None:
        """Look who answers here before something is done. Raises: NoAnswer for no ledger, or one of another series."""
        from jackpot_service.version import service_version  # noqa: PLC0415  who only reads does without

        if not versions.can_act(service_version(), self._require_ledger()):
            raise self._no_ledger("its version differs")

    def _request(
        self,
        method: str,
        path: str,
        *,
        body: Item | None = None,
        query: Item | None = None,
        accept: str | None = None,
    ) -> httpx.Request:
        params = {name: _written(value) for name, value in (query or {}).items() if value is not None}
        headers = {} if accept is None else {"Accept": accept}
        return self._client.build_request(method, path, params=params, json=body, headers=headers)

    def _answer(
        self, method: str, path: str, *, body: Item | None = None, query: Item | None = None, accept: str | None = None
    ) -> tuple[httpx.Response, bool]:
        """
        Call, and return the whole answer, which is a success, and whether an answer before it was lost.

        Raises: ServiceError; as long as nobody knows whether an act was done, a NoAnswer that says so.
        """
        if method != "GET":
            self._require_own_series()
        request = self._request(method, path, body=body, query=query, accept=accept)
        until, pause, was_lost = time.monotonic() + PATIENCE_S, FIRST_PAUSE_S, False
        while True:
            outcome = self._sent(request)
            was_lost = was_lost or is_lost(outcome)
            pause = pause_after(outcome, pause)
            if is_over(outcome) or time.monotonic() + pause > until:
                break
            time.sleep(pause)
            pause *= 2
        perhaps = perhaps_done(request, body) if was_lost else ""
        if isinstance(outcome, httpx.RequestError):
            raise self._silent(outcome, perhaps) if was_lost else self._unreachable(outcome)
        if outcome.is_success:
            return outcome, was_lost
        error = self._error(outcome)
        if perhaps and (isinstance(error, NoAnswer) or not is_over(outcome)):
            raise NoAnswer(f"{error.message}\n  {perhaps}")
        raise error

    def _sent(self, request: httpx.Request) -> Outcome:
        try:
            return self._client.send(request)
        except httpx.RequestError as error:
            return error

    def _json(self, answer: httpx.Response, perhaps: str = "") -> Answer:
        def strange(why: str) -> NoAnswer:
            return self._no_ledger(why, perhaps)

        try:
            document = json.loads(answer.content, object_hook=lambda members: Answer(members, strange))
        except ValueError:
            document = None
        if not isinstance(document, Answer):
            raise strange("its answer is no JSON object")
        return document

    def _error(self, answer: httpx.Response) -> ServiceError:
        """Make an error of an answer that is no success."""
        if is_of_gateway(answer):
            return NoAnswer(f"a proxy at {self.url} got no answer of the service (status {answer.status_code}).")
        problem: Item = self._json(answer) if media_type(answer) == PROBLEM else {}
        if "code" not in problem:
            return self._no_ledger(f"it answers {answer.request.url.path} with status {answer.status_code}")
        lines = [*_stated(problem), *self._what_to_do(problem)]
        if answer.status_code in AGAIN:
            return NoAnswer("\n".join(lines))
        return Refusal("\n".join(lines), problem)

    def _what_to_do(self, problem: Item) -> Iterator[str]:
        if problem["code"] == "unauthenticated":
            yield f"  Set {address.KEY_VARIABLE} to a key of yours that is in force, or run: jackpot login"
            return
        if problem["code"] in STRANGE and (version := self._other_version()):
            yield f"  {version}"
        elif problem["code"] == NO_SUCH_CALL:
            yield f"  Look at {address.URL_VARIABLE}, {self.url}: perhaps it ends with a path of another service."
            return
        if problem.get("errors"):
            return
        remedy = REMEDIES.get(problem["code"]) or self._remedy(str(problem.get("type", "")))
        if remedy:
            yield f"  {remedy}"

    def _remedy(self, place: str) -> str:
        """Ask the service what to do about a problem; it says so to anybody, at the address that is its type."""
        if not place.startswith("/problems/"):
            return ""
        try:
            answer = self._client.get(place, headers={"Accept": JSON})
            return str(answer.json().get("remedy", "")) if answer.is_success else ""
        except (httpx.HTTPError, ValueError, AttributeError):
            return ""

    def _no_ledger(self, why: str, perhaps: str = "") -> NoAnswer:
        text = (
            self._other_version()
            or f"{self.url} is no jackpot ledger, or one of another version: {why}. Look at {address.URL_VARIABLE}."
        )
        return NoAnswer(f"{text}\n  {perhaps}" if perhaps else text)

    def _other_version(self) -> str:
        """Say which version the service is, if it is another one than this command; nothing otherwise."""
        from jackpot_service.version import service_version  # noqa: PLC0415  only in trouble

        own, its = service_version(), str(self.about().get("version", ""))
        if its in {"", own}:
            return ""
        return f"{self.url} is version {its} of the service, and this command is version {own}: use one of its version."

    def _silent(self, error: httpx.RequestError, perhaps: str = "") -> NoAnswer:
        return NoAnswer(f"{self.url} does not answer ({named(error)}). {perhaps}".rstrip())

    def _unreachable(self, error: httpx.RequestError) -> NoAnswer:
        text = named(error)
        return NoAnswer(
            f"no service answers at {self.url} ({text}). Start it (jackpot serve), or set {address.URL_VARIABLE}."
        )


def configured() -> Service:
    """Return the service that the environment names, called by JACKPOT_KEY or by a sign-in that is kept."""
    url, key = address.service_url(), address.own_key()
    if key is None:
        from jackpot_service.cli import sign_in  # noqa: PLC0415  those with a key do without

        key = sign_in.token_for(url)
    return called(url, key)


def called(url: str, key: str | None) -> Service:
    """Return a service that is called until the running command ends."""
    service = Service(url, key)
    click.get_current_context().call_on_close(service.close)
    return service


def at(*parts: object) -> str:
    """
    Write a path of the API of its parts, each of which may hold any character.

    Raises: click.UsageError for `.` and `..`, which a path loses on its way.
    """
    if lost := {".", ".."}.intersection(map(str, parts)):
        message = f"{min(lost)!r} is no id: a path's dots name nothing"
        raise click.UsageError(message)
    return "/v1/" + "/".join(quote(str(part), safe=":") for part in parts)


def printable(text: str) -> str:
    """Let no text break a line of the terminal, or control it; line ends stay."""
    return "".join(sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in text)


@contextmanager
def _whole(url: str) -> Iterator[None]:
    """Raises: NoAnswer for an answer that breaks off."""
    try:
        yield
    except httpx.RequestError as error:
        raise NoAnswer(f"the answer of {url} broke off: {named(error)}") from None


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _stated(problem: Item) -> Iterator[str]:
    """Say what is wrong, and where: at the options of the command that runs, which the service does not know."""
    detail, errors = str(problem.get("detail") or problem.get("title")), problem.get("errors", ())
    places = [(place_of(error), str(error.get("detail")).rstrip(".")) for error in errors]
    if errors and detail.startswith(f"{api_place_of(errors[0])} "):  # It only lists the errors, by the API's names.
        detail = " ".join(places[0]) + "." if len(places) == 1 else f"{problem.get('title')}."
    yield f"{problem['code']}: {detail}"
    yield from (f"  {place}: {text}" for place, text in places if text not in detail)
