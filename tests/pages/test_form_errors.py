"""The sentences of the API that pages say in words of their own: each is one that a field really raises."""

from typing import Any

import pytest
from marshmallow import ValidationError

from jackpot_service.pages.form_errors import IN_WORDS, errors_in
from jackpot_service.usecases.fields import Amount, ObjectOf, StrictSchema, Text
from jackpot_service.usecases.payloads import field_errors_in


class _Schema(StrictSchema):
    reason = Text(required=True)
    amount = Amount()
    caps = ObjectOf(Amount())


def refusal_of(body: dict[str, Any]) -> ValidationError:
    with pytest.raises(ValidationError) as refusal:
        _Schema().load(body)
    return refusal.value


def test_each_sentence_that_is_put_in_other_words_is_raised_by_a_field() -> None:
    messages = refusal_of({"amount": "1,5", "caps": {}}).messages

    assert {error.detail for error in field_errors_in(messages, "")} == IN_WORDS.keys()


def test_an_error_stands_at_its_field_in_words_for_people() -> None:
    assert errors_in(refusal_of({"amount": "1,5", "caps": {}})) == {
        "/reason": "is needed",
        "/amount": "must be a plain decimal number, such as -12.50",
        "/caps": "must not be empty",
    }
