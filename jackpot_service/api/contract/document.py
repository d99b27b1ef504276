"""The whole description, from the parts that schemas, views and the catalogue of problems say."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import flask
import orjson
from apispec.yaml_utils import dict_to_yaml
from flask_smorest.spec import FlaskPlugin

from jackpot_service.api.contract import answers, examples, headers, kinds, words
from jackpot_service.api.contract import parameters as meanings
from jackpot_service.api.contract.operations import Operation
from jackpot_service.api.description import Api


def text(api: Api, app: flask.Flask) -> str:
    """
    Write the description: what flask-smorest finds in the schemas, completed by what each view says of itself.

    The other modules have the parts: words and problems of operations, headers, kinds of changes and jobs.
    """
    document = api.described()
    kinds.describe(api.spec.components)
    api.describe_schemas()
    schemas = dict(api.spec.components.schemas)
    paths: dict[str, str] = {}
    operations, parameters = {}, {}
    for operation in _operations(app, document["paths"]):
        for code in sorted(operation.complete(schemas)):
            paths.setdefault(code, operation.path)
        name = operation.described["operationId"]
        operations[name] = operation.described
        parameters[name] = operation.described.get("parameters", []) + document["paths"][operation.path].get(
            "parameters", []
        )
    for of_operation in parameters.values():
        meanings.describe(of_operation)
    words.name_lists(document["paths"], schemas)
    examples.describe(operations, parameters)
    of_problems = answers.components(paths)
    schemas.pop(_UNUSED, None)
    schemas.update(of_problems["schemas"])
    document["components"] |= {
        "schemas": schemas,
        "responses": of_problems["responses"],
        "headers": headers.COMPONENTS,
        "parameters": headers.PARAMETERS,
        "examples": of_problems["examples"],
    }
    plain = orjson.loads(orjson.dumps({name: document[name] for name in _ORDER}))  # Words are texts, for YAML.
    written: str = dict_to_yaml(plain)
    return written


def _operations(app: flask.Flask, paths: Mapping[str, Any]) -> Iterator[Operation]:
    for rule in app.url_map.iter_rules():
        path = FlaskPlugin.flaskpath2openapi(rule.rule)
        described = paths.get(path, {})  # None of a page to look at.
        for method in sorted(described.keys() & {method.lower() for method in rule.methods or ()}):
            yield Operation(method.upper(), path, described[method], app.view_functions[rule.endpoint])


_UNUSED: Final = "PaginationMetadata"

_ORDER: Final = ("openapi", "info", "servers", "security", "tags", "paths", "components")
