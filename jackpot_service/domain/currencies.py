"""
The currencies money may be stated in, each with its exponent and the time it is legal tender.

The project's own dated table, seeded from ISO 4217 (2026). Display libraries disagree with the standard about more than
a dozen exponents. A currency that is withdrawn must keep its exponent for the rounds that were played in it. Codes
without a minor unit (gold, test codes, bond market units) are no money a player can bet.
"""

from dataclasses import dataclass
from datetime import date

from jackpot_service.domain.errors import Refused
from jackpot_service.domain.money import from_minor

DEFAULT_EXPONENT = 2

_EXPONENTS_OTHER_THAN_TWO = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}

_EXPONENT_TWO = """
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP
COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR
JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO
NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS
TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG
"""

_WITHDRAWN = {
    "HRK": date(2023, 1, 1),
    "BGN": date(2026, 1, 1),
}


class UnknownCurrency(Refused, code="unknown-currency", title="Unknown currency"):
    """No such currency, or none that is still legal tender."""


@dataclass(frozen=True, slots=True)
class Currency:
    """A currency: its ISO 4217 code, how many decimals its minor unit has (0 to 4), and when it was withdrawn."""

    code: str
    exponent: int
    withdrawn_on: date | None = None

    def is_tender_on(self, day: date) -> bool:
        """Whether it had not been withdrawn by then."""
        return self.withdrawn_on is None or day < self.withdrawn_on


def _table() -> dict[str, Currency]:
    exponents = dict.fromkeys(_EXPONENT_TWO.split(), DEFAULT_EXPONENT)
    for exponent, codes in _EXPONENTS_OTHER_THAN_TWO.items():
        exponents.update(dict.fromkeys(codes.split(), exponent))
    return {code: Currency(code, exponent, _WITHDRAWN.get(code)) for code, exponent in exponents.items()}


CURRENCIES = _table()


def written(amount_minor: int, currency: str) -> str:
    """Write an amount of minor units with its code, as a sentence has it: EUR 12.50."""
    return f"{currency} {from_minor(amount_minor, CURRENCIES[currency].exponent):f}"


def known(code: str) -> Currency:
    """Look up a currency, withdrawn or not. Raises: UnknownCurrency."""
    currency = CURRENCIES.get(code)
    if currency is None:
        message = f"{code} is not a currency of ISO 4217 with a minor unit."
        raise UnknownCurrency(message, currency=code)
    return currency


def tender(code: str, *, on: date) -> Currency:
    """
    Look up a currency that is legal tender on a day.

    Raises: UnknownCurrency if the code is no currency's, or the currency was withdrawn before that day.
    """
    currency = known(code)
    if not currency.is_tender_on(on):
        message = f"{code} was withdrawn on {currency.withdrawn_on}."
        raise UnknownCurrency(message, currency=code)
    return currency
