"""Every account has a name of its own in plain-text accounting, which other programs take, and which is read back."""

import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain import accounts
from jackpot_service.domain.shapes import IDENTIFIER_PATTERN
from jackpot_service.exports.account_names import FIXED, account_of, component_of, name_of, text_of

NAME: Final = re.compile(r"(Assets|Liabilities|Equity|Income|Expenses)(:[A-Z0-9][A-Za-z0-9-]*)+")
"""What beancount takes for an account, in ASCII."""

ids = st.from_regex(IDENTIFIER_PATTERN, fullmatch=True)
currencies = st.from_regex("^[A-Z]{3}$", fullmatch=True)
all_accounts = st.one_of(
    ids.map(accounts.casino),
    ids.map(accounts.transfer),
    currencies.map(accounts.bank),
    currencies.map(accounts.exchange),
    st.sampled_from(list(FIXED)),
    st.text(min_size=1),
    ids.map("fx:{}".format),
)


@given(account=all_accounts)
def test_every_account_has_a_name_that_beancount_takes_and_that_stands_for_it_alone(account: str) -> None:
    name = name_of(account)

    assert NAME.fullmatch(name)
    assert account_of(name) == account


@given(first=all_accounts, other=all_accounts)
def test_two_accounts_never_share_a_name(first: str, other: str) -> None:
    assert (name_of(first) == name_of(other)) == (first == other)


@given(text=st.text())
def test_every_text_is_a_component_that_is_read_back(text: str) -> None:
    assert re.fullmatch(r"[A-Z0-9][A-Za-z0-9-]*", component_of(text))
    assert text_of(component_of(text)) == text


@pytest.mark.parametrize(
    ("account", "name"),
    [
        ("casino:riga", "Assets:Casino:Riga"),
        ("casino:Riga", "Assets:Casino:X-iRiga"),
        ("casino:x-iRiga", "Assets:Casino:X--iRiga"),
        ("casino:1.a_b:c", "Assets:Casino:1-da-ub-cc"),
        ("withheld:c-1", "Liabilities:Withheld:C--1"),
        ("transfer:the_End:1.", "Equity:Transfer:The-uEnd-c1-d"),
        ("bank:EUR", "Assets:Bank:EUR"),
        ("fx:GBP", "Equity:Exchange:GBP"),
        ("pool:prize_fund", "Liabilities:PrizeFund"),
        ("bank:eur", "Equity:Other:Bank-ceur"),
    ],
)
def test_names_are_readable(account: str, name: str) -> None:
    assert name_of(account) == name


@pytest.mark.parametrize("component", ["Riga-", "R-z", "R_a", "R-x00", "X-i-", "Rï"])
def test_what_no_account_is_called_is_not_read(component: str) -> None:
    with pytest.raises(ValueError, match="no component"):
        text_of(component)
