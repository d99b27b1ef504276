"""How ids, currencies, times and numbers are written, wherever they come in."""

import re

IDENTIFIER = re.compile(r"[A-Za-z0-9._:-]{1,64}")
IDENTIFIER_PATTERN = f"^{IDENTIFIER.pattern}$"
ACCOUNT = re.compile(r"[A-Za-z0-9._:-]{1,80}")
ACCOUNT_PATTERN = f"^{ACCOUNT.pattern}$"
DEPARTMENT = re.compile(r"[a-z0-9-]{1,64}")
DEPARTMENT_PATTERN = f"^{DEPARTMENT.pattern}$"
CURRENCY = re.compile(r"[A-Z]{3}")
CURRENCY_PATTERN = f"^{CURRENCY.pattern}$"
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)
DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
WALL_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
SHA256 = re.compile(r"[0-9a-f]{64}")
SIGNATURE = re.compile(r"[0-9a-f]{128}")
DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")

LARGEST_MINOR = 10**15
"""More minor units than any stake could have; keeps every sum far inside a bigint."""
