"""The table of figures as it is shown: {column: text} per row, and numbers parsed back from their text."""

import re

FACTORS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
           "/s": 1.0, "k/s": 1e3, "M/s": 1e6, "G/s": 1e9, "×": 1.0, "%": 0.01, "": 1.0}  # of other texts behind a comma: none

READ = """table => {
  const columns = [...table.tHead.rows[0].cells].map(cell => ({ id: cell.dataset.column, text: cell.textContent }));
  const rows = [...table.tBodies].flatMap(body => [...body.rows]).map(row => ({
    group: row.classList.contains("group"),
    units: [...row.cells].map(cell => cell.classList.contains("unit") ? cell.textContent : ""),
    cells: [...row.cells].map(cell => ({
      value: (cell.querySelector(".value") ?? cell).firstChild.textContent.trim(),
      sub: cell.querySelector(".sub")?.textContent ?? "" })) }));
  return { columns, rows };
}"""


def figures(page):
    """Subjects and their figures."""
    return page.locator("[id$=-tables] table.figures").first


def read(table):
    """Rows as {column id: {"value", "sub", "factor"}}; of the headings of groups {"group": name}."""
    found = table.evaluate(READ)
    rows = []
    own = []  # units of the group
    for row in found["rows"]:
        if row["group"]:
            rows.append({"group": row["cells"][0]["value"]})
            own = row["units"]
            continue
        cells = {}
        for index, (column, cell) in enumerate(zip(found["columns"], row["cells"], strict=True)):
            unit = column["text"].replace("\u00a0", " ").rpartition(", ")[2] if "," in column["text"] else ""
            unit = own[index] if index < len(own) and own[index] else unit
            cells[column["id"]] = cell | {"factor": FACTORS.get(unit)}
        rows.append(cells)
    return rows


def number(text):
    return float(text.replace(",", "").replace("−", "-").replace("+", "").replace("×", "").replace(" %", ""))


def in_base_units(cell):
    """The value and its interval, as the document would have them."""
    bounds = re.fullmatch(r"\[(.+), (.+)\]", cell["sub"])
    interval = None if bounds is None else tuple(number(bounds[i]) * cell["factor"] for i in (1, 2))
    return number(cell["value"]) * cell["factor"], interval


def close(shown, true):
    """Equal but for rounding to three significant digits."""
    return abs(shown - true) <= 0.0051 * abs(true) + 1e-15
