"""Numbers of things, as sentences have them."""


def counted(number: int, noun: str) -> str:
    """Write how many there are of something: 1 bet, 2 bets."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
