"""How figures are rounded and which unit they have, said again, in Python and without binary fractions: what the page shows is
compared with this."""

import math
from decimal import Decimal

MISSING = "–"
UNITS = {
    "s": [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)],
    "bytes": [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)],
    "items/s": [("/s", 1.0), ("k/s", 1e3), ("M/s", 1e6), ("G/s", 1e9)],
    "ratio": [("×", 1.0)],
    "share": [("%", 0.01)],
    "count": [("", 1.0)],
    "plain": [("", 1.0)],
}
QUANTITIES = {"s": "s", "bytes": "bytes", "items/s": "items/s", "1/s": "items/s", "share": "share"}


def quantity_of(unit):
    return QUANTITIES.get(unit, "plain")


def unit_of(quantity, value):
    """The largest in which the rounded value is at least 1."""
    fitting = [unit for unit in UNITS[quantity] if abs(value) >= unit[1] * 0.9995]
    return fitting[-1] if fitting else UNITS[quantity][0]


def unit_of_all(quantity, values):
    """That of the median size; none where nothing has a value."""
    known = [value for value in values if value is not None]
    sizes = sorted(abs(value) for value in known if value != 0)
    return ("", 1.0) if not known else unit_of(quantity, sizes[len(sizes) // 2] if sizes else 0)


def in_full(value, digits=3):
    if value == 0:
        return "0"
    exact = Decimal(value)
    decimals = min(12, max(0, digits - 1 - Decimal(f"{exact:.{digits - 1}e}").adjusted()))
    return f"{exact:.{decimals}f}"


def plain(value, digits=3):
    size = abs(Decimal(f"{Decimal(value):.{digits - 1}e}"))
    if value != 0 and (size >= Decimal("1e15") or size < Decimal("1e-5")):
        return f"{Decimal(value):.{digits - 1}e}".replace("e+", "e")
    return in_full(value, digits)


def in_unit(value, unit, digits=3):
    name, factor = unit
    if value is None or not math.isfinite(value):
        return MISSING
    if name == "B":
        return f"{Decimal(value):.0f}"
    return plain(value, digits) if name == "" else in_full(value / factor, digits)


def digits_of(low, high, unit):
    """As many as tell the ends of an interval apart, 3 to 7."""
    return next((digits for digits in range(3, 7) if low == high or in_unit(low, unit, digits) != in_unit(high, unit, digits)), 7)


def interval(low, high, unit):
    digits = digits_of(low, high, unit)
    return f"[{in_unit(low, unit, digits)}, {in_unit(high, unit, digits)}]"


def with_unit(text, unit):
    return text if unit[0] == "" else f"{text}{unit[0]}" if unit[0] in ("×", "/s") else f"{text} {unit[0]}"


def figure(quantity, value, digits=3):
    if value is None:
        return MISSING
    unit = unit_of(quantity, value)
    return with_unit(in_unit(value, unit, digits), unit)


def signed(value, digits=3):
    text = plain(abs(value), digits)
    return f"−{text}" if value < 0 else f"+{text}" if value > 0 else text


def percent(share, digits=3):
    return MISSING if share is None else f"{plain(share * 100, digits)} %"


def whole(value):
    text = f"{value:.0f}"
    return f"{int(text):,}" if len(text.lstrip("-")) > 4 else text


def count(value, one, many):
    return f"{whole(value)} {one if value == 1 else many}"


def probability(p):
    return "<0.001" if p < 0.001 else f"{Decimal(p):.3f}"


def effect(change, between, is_factor=None):
    """A change as a share; what is twice as much, or half as much, as a factor, unless it is said which."""
    if change is None:
        return ""
    if is_factor is None:
        is_factor = change >= 1 or change <= -0.5
    text = (lambda share: plain(1 + share)) if is_factor else (lambda share: signed(share * 100))
    ends = "" if between is None else f" [{text(between['low'])}, {text(between['high'])}]"
    return f"{text(change)}{'×' if is_factor else ' %'}{ends}"


def difference(seconds, low=None, high=None):
    """"+2.10 ms [+1.80, +2.40]": one unit, and digits that tell the ends apart."""
    unit = unit_of("s", seconds)
    if low is None:
        return f"{signed(seconds / unit[1])} {unit[0]}"
    digits = digits_of(low, high, unit)
    return f"{signed(seconds / unit[1], digits)} {unit[0]} [{signed(low / unit[1], digits)}, {signed(high / unit[1], digits)}]"


def when(text):
    return f"{text[:10]} {text[11:16]} UTC"


def duration(seconds):
    if seconds is None:
        return MISSING
    if seconds < 9.95:
        return f"{Decimal(seconds):.1f} s"
    rest = round(seconds)
    sizes = [(86400, "d"), (3600, "h"), (60, "min"), (1, "s")]
    for (size, name), (smaller, smaller_name) in zip(sizes, sizes[1:], strict=False):
        if rest >= size:
            more = rest % size // smaller
            return f"{rest // size} {name}" + (f" {more} {smaller_name}" if more else "")
    return f"{rest} s"
