"""The contract describes everything: each operation, its words, its statuses, and what it takes. Issue 25, point 1."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from jackpot_service.api.contract.operations import operation_id
from jackpot_service.api.problem_catalogue.catalogue import ROWS
from tests.support.answers import PROBLEM, require_in_catalogue
from tests.support.contract import DOCUMENT, METHODS, resolved

Part = Mapping[str, Any]

IDS: Final = Path(__file__).parent / "operation_ids.txt"
"""Every operation and its id, by which generated clients name it: one that changes breaks them."""

OPERATIONS: Final = {
    f"{method.upper()} {path}": operation
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if method in METHODS
}

OF_HTTP: Final = {"request-timeout", "uri-too-long", "head-too-large", "method-unknown", "internal-error"}
OF_BROKEN_BOOKS: Final = {"books-broken", "entry-unbalanced", "figures-missing"}
"""Codes that no operation states, since each may be answered by them."""


def walked(part: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every part of the document with the names that lead to it."""
    yield path, part
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for name, inner in items:
        yield from walked(inner, (*path, str(name)))


def codes_of(response: Part) -> set[str]:
    schema = resolved(response).get("content", {}).get(PROBLEM, {}).get("schema", {})
    return {
        code
        for variant in map(resolved, schema.get("oneOf", [schema]))
        for part in variant.get("allOf", [])[1:]
        for code in part["properties"]["code"]["enum"]
    }


# Names and words.


def test_every_operation_has_an_id_of_its_own_which_stays() -> None:
    ids = {label: operation["operationId"] for label, operation in OPERATIONS.items()}

    assert len(set(ids.values())) == len(ids)
    assert all(re.fullmatch("(get|list|post|put)([A-Z][a-z]+)+", operation_id) for operation_id in ids.values())
    assert IDS.read_text(encoding="utf-8").splitlines() == sorted(
        f"{label} {operation_id}" for label, operation_id in ids.items()
    )


def test_an_operation_is_named_after_its_view_and_says_whether_it_lists() -> None:
    assert operation_id("post_bets", is_list=False) == "postBets"
    assert operation_id("get_payout_per_unit", is_list=False) == "getPayoutPerUnit"
    assert operation_id("get_awards", is_list=True) == "listAwards"


@pytest.mark.parametrize("label", OPERATIONS)
def test_an_operation_says_what_it_does_and_who_may_call_it(label: str) -> None:
    operation = OPERATIONS[label]

    assert re.fullmatch(r"[A-Z].*[.]", operation["summary"])
    assert operation["description"].endswith(("No key is needed.", "`."))
    assert [operation["tags"][0]] == operation["tags"]
    for role in operation.get("x-roles", ()):
        assert f"`{role}`" in operation["description"]


@pytest.mark.parametrize("label", OPERATIONS)
def test_an_operation_says_what_each_parameter_means(label: str) -> None:
    shared = DOCUMENT["paths"][label.partition(" ")[2]].get("parameters", [])
    parameters = [resolved(parameter) for parameter in [*OPERATIONS[label].get("parameters", []), *shared]]

    for parameter in parameters:
        assert parameter.get("description", "").endswith("."), parameter["name"]


def test_every_tag_is_described_and_used() -> None:
    described = {tag["name"]: tag["description"] for tag in DOCUMENT["tags"]}

    assert {tag for operation in OPERATIONS.values() for tag in operation["tags"]} == described.keys()
    assert all(described.values())


def test_it_says_where_the_service_is_whose_it_is_and_under_which_licence() -> None:
    assert [server["url"] for server in DOCUMENT["servers"]] == ["/", "http://127.0.0.1:8000"]
    assert all(server["description"] for server in DOCUMENT["servers"])
    assert DOCUMENT["info"]["contact"] == {"name": "The jackpot ledger's authors"}
    assert DOCUMENT["info"]["license"]["identifier"] == "Apache-2.0"


# What holds of the document as such, as linters look.


def test_every_reference_leads_somewhere_and_every_part_is_referred_to() -> None:
    referred = {part for path, part in walked(DOCUMENT) if path and (path[-1] == "$ref" or "mapping" in path[-2:-1])}
    parts = {
        f"#/components/{kind}/{name}"
        for kind, named in DOCUMENT["components"].items()
        if kind != "securitySchemes"
        for name in named
    }

    assert referred == parts


def test_every_object_says_which_members_it_has_or_of_which_kind_they_are() -> None:
    bare = [
        "/".join(path)
        for path, part in walked(DOCUMENT)
        if isinstance(part, dict)
        and "object" in (part["type"] if isinstance(part.get("type"), list) else [part.get("type")])
        and not {"properties", "additionalProperties", "oneOf", "allOf"} & part.keys()
    ]

    assert bare == []


def test_every_list_says_which_items_it_has() -> None:
    """Also one that names each of them in its place, as linters ask."""
    bare = [
        "/".join(path)
        for path, part in walked(DOCUMENT)
        if isinstance(part, dict) and part.get("type") == "array" and "items" not in part
    ]

    assert bare == []


def test_every_default_is_a_value_that_is_taken() -> None:
    wrong = [
        path
        for path, part in walked(DOCUMENT["components"]["schemas"])
        if isinstance(part, dict) and isinstance(part.get("type"), str) and "default" in part and not is_taken(part)
    ]

    assert wrong == []


def is_taken(schema: Part) -> bool:
    default = schema["default"]
    match schema["type"]:
        case "string":
            return isinstance(default, str) and re.search(schema.get("pattern", ""), default) is not None
        case "array":
            return isinstance(default, list) and len(default) >= schema.get("minItems", 0)
        case _:
            return True


# Statuses.


@pytest.mark.parametrize("label", OPERATIONS)
def test_an_operation_states_every_status_of_its_kind(label: str) -> None:
    path = label.partition(" ")[2]
    operation = OPERATIONS[label]
    statuses = operation["responses"].keys()
    expected = {"405", "default"}
    expected |= {"404"} if "{" in path else set()
    expected |= {"401", "403", "422", "429", "503"} if operation.get("security") != [] else set()
    expected |= {"400", "413", "415", "422"} if "requestBody" in operation else set()

    assert expected <= statuses
    assert any(status[0] == "2" for status in statuses)


@pytest.mark.parametrize("label", OPERATIONS)
def test_a_response_names_the_codes_of_its_status(label: str) -> None:
    for status, response in OPERATIONS[label]["responses"].items():
        codes = codes_of(response)
        assert {str(ROWS[code].status) for code in codes} <= {status}
        is_problem = PROBLEM in resolved(response).get("content", {})
        assert bool(codes) is (is_problem and status != "default")


@pytest.mark.parametrize("label", OPERATIONS)
def test_a_response_names_its_headers(label: str) -> None:
    for status, response in OPERATIONS[label]["responses"].items():
        headers = resolved(response)["headers"]
        expected = {"X-Request-Id"}
        expected |= {"Retry-After"} if status in {"429", "503"} and label != "GET /readyz" else set()
        expected |= {"WWW-Authenticate"} if status == "401" else set()
        expected |= {"Allow"} if status == "405" else set()
        expected |= {"ETag"} if status == "304" or (status == "200" and "meter" in label) else set()
        expected |= replica_headers_of(label) if status[0] == "2" else set()

        assert headers.keys() - {"Content-Disposition"} == expected, status
        assert {name for name, header in headers.items() if not resolved(header)["required"]} == expected & OPTIONAL


OPTIONAL: Final = {"Replica-Age", "Log-Position"}
"""The headers of answers that were read at a replica, and of those to a caller that asked for it."""


def replica_headers_of(label: str) -> set[str]:
    """The headers by which a caller reads at a replica: those of a list or a report, and of a call that writes."""
    operation = OPERATIONS[label]
    parameters = {resolved(parameter)["name"] for parameter in operation.get("parameters", ())}
    if not label.startswith("GET "):
        assert ("Want-Log-Position" in parameters) is (operation.get("security") != [])
        return {"Log-Position"} & {name.removeprefix("Want-") for name in parameters}
    reads_together = label in {"GET /v1/events", "GET /v1/jackpots/{jackpot_id}/feed"}
    return {"Replica-Age"} if reads_together or "Log-Position" in parameters else set()


def test_every_code_is_stated_by_an_operation_or_comes_of_no_good_http() -> None:
    stated = {
        code
        for operation in OPERATIONS.values()
        for response in operation["responses"].values()
        for code in codes_of(response)
    }

    assert ROWS.keys() - stated == OF_HTTP | OF_BROKEN_BOOKS


# Examples of problems.


@pytest.mark.parametrize("label", OPERATIONS)
def test_each_code_of_a_response_has_its_example(label: str) -> None:
    for status, response in OPERATIONS[label]["responses"].items():
        codes = codes_of(response)
        examples = resolved(response).get("content", {}).get(PROBLEM, {}).get("examples", {})
        by_code = {code: resolved(example)["value"]["code"] for code, example in examples.items() if code in ROWS}

        assert by_code == {code: code for code in codes} or status == "default"


def test_the_example_of_a_code_is_what_the_catalogue_says_of_it() -> None:
    examples = {code: example["value"] for code, example in DOCUMENT["components"]["examples"].items()}

    assert examples.keys() == ROWS.keys()
    for code, problem in examples.items():
        require_in_catalogue(problem)
        assert (problem["code"], problem["detail"]) == (code, ROWS[code].meaning)
        assert re.fullmatch(r"(/[A-Za-z0-9_-]+)+", problem["instance"]), problem["instance"]


def test_every_other_answer_has_the_examples_of_the_codes_that_it_names() -> None:
    other = DOCUMENT["components"]["responses"]["OtherProblem"]
    named = set(re.findall("`([a-z-]+)`", other["description"]))

    assert other["content"][PROBLEM]["examples"].keys() == named | OF_BROKEN_BOOKS
    assert named == OF_HTTP | {"bad-request", "body-too-large"}


# Kinds of changes and of jobs.


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("ChangeRequest", "payload"),
        ("Change", "payload"),
        ("JobRequest", "parameters"),
        ("Job", "parameters"),
        ("CloudEvent", "data"),
    ],
)
def test_each_kind_has_a_schema_of_its_own(name: str, member: str) -> None:
    schemas = DOCUMENT["components"]["schemas"]
    mapping = schemas[name]["discriminator"]["mapping"]
    discriminator = "type" if name == "CloudEvent" else "kind"

    assert schemas[name]["discriminator"]["propertyName"] == discriminator
    assert [variant["$ref"] for variant in schemas[name]["oneOf"]] == [*mapping.values()]
    for kind, reference in mapping.items():
        schema = resolved({"$ref": reference})
        properties = schema["allOf"][1]["properties"] if "allOf" in schema else schema["properties"]
        assert properties[discriminator]["const"] == kind
        assert resolved(properties[member])["properties"]
