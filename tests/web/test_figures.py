"""Every figure on a page of each kind is the document's: value, unit and digits, as tests/web/rounding.py has them."""

import copy
import dataclasses
import itertools
import re

import pytest

from .document import document_of
from .drawing import draw
from .expected_charts import data_of
from .expected_tables import Number, column_unit, tables
from .kinds import KINDS
from .rounding import duration, effect, figure, in_full, percent, plain, whole

LEAST = 50  # figures that are compared on a page; of a kind with fewer, all

# What is on the page and not compared here, and why.
NOT_COMPARED = {
    "Settings by subject": "texts as they were asked for and executed",
    "Settings of reference and candidate": "texts as back ends report them",
    "Settings of baseline and candidate": "texts as back ends report them",
    "Accuracy of both": "no page here has labels: tests/validate has them",
    "text column": "a text, with digits in it, that no figure is made of",
}

# Everything that has to be pressed before it can be read.
OPEN = """() => {
    for (const fold of document.querySelectorAll("details:not(.data)")) fold.open = true;
    for (const box of document.querySelectorAll(".chooser input:not(:checked)")) box.click();
    for (const fold of document.querySelectorAll("details.data")) fold.open = true;
    for (const button of document.querySelectorAll("main p.note button")) if (button.textContent.startsWith("Show all")) button.click();
}"""

READ = """root => {
    const own = element => [...element.childNodes].filter(node => !["SUP"].includes(node.nodeName)).map(node => node.textContent).join("");
    const text = cell => {
        const copy = cell.cloneNode(true);
        for (const part of copy.querySelectorAll(".sub, sup, .sign, .arrow")) part.remove();
        return copy.textContent.trim();
    };
    return [...root.querySelectorAll("table.grid")].map(table => ({
        caption: table.getAttribute("aria-label") ?? document.getElementById(table.getAttribute("aria-labelledby"))?.textContent ?? "",
        figure: table.closest("figure")?.id ?? "",
        part: table.closest("article.part")?.id ?? "",
        columns: [...table.tHead.rows[0].cells].map(cell => ({
            id: cell.dataset.column ?? "", numeric: cell.classList.contains("number"), title: cell.textContent,
            unit: cell.querySelector(".unit")?.textContent.replace(",\\u00a0", "") ?? "" })),
        rows: [...table.tBodies].flatMap(body => [...body.rows]).map(row => ({
            group: row.classList.contains("group") ? row.querySelector("th").textContent : null,
            units: [...row.cells].map(cell => cell.classList.contains("unit") ? cell.textContent : ""),
            cells: [...row.cells].map(cell => ({ text: text(cell), sub: cell.querySelector(".sub")?.textContent ?? "" })) })),
    }));
}"""


class Compared:
    """What was found to be as it has to be, and what was left."""

    def __init__(self):
        self.figures = 0
        self.left = {}
        self.wrong = []

    def same(self, shown, expected, where):
        if shown != expected:
            self.wrong.append(f"{where}: the page says {shown!r}, the document {expected!r}")
        else:
            self.figures += len(re.findall(r"\d[\d.,]*", expected))

    def leave(self, what, count):
        self.left[what] = self.left.get(what, 0) + count


def compare_table(table, expected, compared):
    """Cell by cell; rows stand in groups with units of their own."""
    rows, grouped = expected
    caption = table["caption"]
    if grouped is not None:
        names = list(dict.fromkeys(map(grouped, rows)))
        if len(names) > 1:
            rows = [row for name in names for row in rows if grouped(row) == name]
            shown = [row["group"] for row in table["rows"] if row["group"] is not None]
            for text, name in zip(shown, names, strict=True):
                compared.same(text, f"model {name} {sum(grouped(row) == name for row in rows)}", f"{caption}, group")
    else:
        names = [""]
    of = grouped or (lambda row: "")
    lines = [row for row in table["rows"] if row["group"] is None]
    if len(lines) != len(rows):
        compared.wrong.append(f"{caption}: {len(lines)} rows are shown, the document has {len(rows)}")
        return
    head = {row["group"]: row["units"] for row in table["rows"] if row["group"] is not None}
    units = {name: [column_unit([row.get(column["id"]) for row in rows if of(row) == name]) for column in table["columns"]] for name in names}
    for place, column in enumerate(table["columns"]):
        cells = [row.get(column["id"]) for row in rows]
        where = f"{caption}, {column['id']}"
        if column["numeric"]:
            if not any(isinstance(cell, Number) for cell in cells):
                compared.wrong.append(f"{where}: nothing says what this column has to show")
                continue
            own = list(dict.fromkeys(units[name][place][0] for name in names if units[name][place][0]))
            compared.same(column["unit"], own[0] if len(own) == 1 else "", f"{where}, unit")
            if len(own) > 1:
                for (_, shown), name in zip(head.items(), names, strict=True):
                    compared.same(shown[place], units[name][place][0], f"{where}, unit of {name}")
            shared = next((units[name][place] for name in names if units[name][place][0] == own[0]), None) if len(own) == 1 else None
        for line, row, cell in zip(lines, rows, cells, strict=True):
            shown = line["cells"][place]
            if isinstance(cell, Number):
                text, sub = cell.texts(shared or units[of(row)][place])
                compared.same(shown["text"], text, where)
                compared.same(shown["sub"], sub, f"{where}, beneath")
            elif cell is not None:
                text, sub = cell if isinstance(cell, tuple) else (cell, None)
                if text != "*":
                    compared.same(shown["text"], text, where)
                if sub is not None:
                    compared.same(shown["sub"], sub, f"{where}, beneath")
            elif not column["numeric"] and re.search(r"\d", shown["text"]):
                compared.leave("text column", 1)
            else:
                assert not column["numeric"], f"{where}: nothing says what this cell has to show"
    missing = {key for row in rows for key, cell in row.items() if isinstance(cell, Number) and cell.value is not None} - {column["id"] for column in table["columns"]}
    if missing:
        compared.wrong.append(f"{caption}: the document has figures that have no column: {', '.join(sorted(missing))}")


def compare_matrix(table, part, compared):
    """Cells of one figure: changes as the engine says them."""
    effects = part["overview"]["effects"] if table["caption"].startswith("Each candidate") else (part["overview"]["since_last"] or {"subjects": []})["subjects"]
    for each in [each for each in effects if each.get("baseline", 0) is not None]:
        text = effect(each["change"], each["interval"])
        found = any(text in (cell["sub"], cell["text"]) for row in table["rows"] for cell in row["cells"])
        compared.same(text if found else "nothing", text, table["caption"])


def number_of(text):
    return None if text == "–" else float(text)


def compare_data(table, part, compared):
    """The data behind a chart: every number as it stands in the document, in base units."""
    expected = data_of(table["figure"].split("-", 2)[2], part, [column["title"] for column in table["columns"]])
    if expected is None:
        compared.wrong.append(f"{table['figure']}: nothing says what its data have to be: {[column['title'] for column in table['columns']]}")
        return
    lines = [[cell["text"] for cell in row["cells"]] for row in table["rows"]]
    if isinstance(expected, set):
        reported = [place for place, value in enumerate(next(iter(expected))) if value is not None]
        known = {tuple(row[place] for place in reported) for row in expected}
        for row in lines:
            text = ", ".join(row[place] for place in reported)
            compared.same(text if tuple(number_of(row[place]) for place in reported) in known else "a row that is not in the document", text, table["figure"])
        return
    expected = list(itertools.islice(expected, 500))
    if len(lines) != len(expected):
        compared.wrong.append(f"{table['figure']}: {len(lines)} rows of data, the document has {len(expected)}")
        return
    for shown, row in zip(lines, expected, strict=True):
        for column, text, value in zip(table["columns"], shown, row, strict=True):
            if isinstance(value, str):
                compared.same(text, value, f"{table['figure']}, {column['title']}")
            elif column["numeric"]:
                same = number_of(text) == value
                compared.same(text if same else f"{text}", text if same else f"{value}", f"{table['figure']}, {column['title']}")


def words_of(document):
    """All texts of a document."""
    if isinstance(document, str):
        yield " ".join(document.split())
    elif isinstance(document, dict):
        yield from itertools.chain.from_iterable(map(words_of, document.values()))
    elif isinstance(document, list):
        yield from itertools.chain.from_iterable(map(words_of, document))


def numbers_of(document):
    if isinstance(document, bool):
        return
    if isinstance(document, (int, float)):
        yield float(document)
    elif isinstance(document, dict):
        yield from itertools.chain.from_iterable(map(numbers_of, document.values()))
    elif isinstance(document, list):
        yield from itertools.chain.from_iterable(map(numbers_of, document))


def compare_sentences(shown, part, compared):
    """What is said is what the engine says, word for word."""
    known = set(words_of(part))
    compared.same("".join(shown.headline.split()), part["overview"]["headline"]["text"].replace(" ", ""), "headline")
    for text in shown.sentences:
        plain_text = " ".join(text.replace("\u00a0", " ").split())
        if re.search(r"\d", plain_text):
            compared.same(plain_text if plain_text in known else "a sentence of its own", plain_text, "sentences")


def compare_figures_of_sentences(part, compared):
    """The figures of an answer's sentence are those of its fields, rounded."""
    for answer in part["answers"]:
        if answer["topic"] not in ("speed", "level") or answer["value"] is None:
            continue
        figures = set(numbers_of({key: answer[key] for key in ("value", "interval", "n", "processes", "needed", "besides")}))
        if part["run"] is not None and part["run"]["comparison"] is not None:
            figures.add(part["run"]["comparison"]["wall_s"])
        changed = {f(value) for value in figures if value > 0 for f in (lambda v: v, lambda v: 1 / v, lambda v: 100 * (v - 1), lambda v: 100 * (1 - v), lambda v: 100 * (1 / v - 1), lambda v: 100 * (1 - 1 / v), lambda v: 100 * v)}
        rounded = {form(abs(value) * scale, digits) for value in changed for digits in (1, 2, 3) for form in (in_full, plain) for scale in (1, 1e-3, 1e-6, 1e3, 1e6, 1e9)}
        rounded |= {str(int(value)) for value in figures if value == int(value)}
        for text in re.findall(r"(?<![\w.@=-])(\d[\d.]*\d|\d)(?:x| %| [nµm]?s| [kMG]?B|/s)(?!\w)", answer["text"]):
            compared.same(text if text in rounded else "a figure of its own", text, answer["text"])


def compare_first_chart(shown, part, compared):
    """Beside the answer: each change with its interval stands at its line."""
    effects = [each for each in part["overview"]["effects"] if each["baseline"] is not None and each["change"] is not None]
    if not effects or shown.first_chart is None:
        return
    # One kind of figure for all, that of the axis: over more than a factor of three factors.
    drawn = [each for each in part["overview"]["effects"] if each["baseline"] is not None][:40]
    margin = part["overview"]["margin"]
    ends = [0, margin, -margin / (1 + margin)] + [value for each in drawn for value in (each["change"], *((each["interval"] or {}).get(end) for end in ("low", "high"))) if value is not None]
    is_factor = (1 + max(ends)) / (1 + min(ends)) > 3
    for each in effects[:40]:
        text = effect(each["change"], each["interval"], is_factor)
        text = text if text in shown.first_chart else text.partition(" [")[0]  # without the interval where there is no room
        compared.same(text if text in shown.first_chart else "nothing", text, "the first chart")


def compare_facts(shown, part, compared):
    """Facts of the record: as they are in the document, or in units."""
    known = set(words_of(part))
    known |= {text for value in set(numbers_of([part["run"] and part["run"]["environment"], part["run"] and part["run"]["plan"], part["validation"], part["layers"]]))
                                   for text in (str(int(value)) if value == int(value) else repr(value), whole(value), figure("bytes", value), duration(value) if 0 <= value < 1e9 else "", percent(value), f"{whole(value)} iterations", f"{whole(value)} iteration")}
    caches = (part["run"] or {"environment": {"caches": []}})["environment"]["caches"]
    sizes = [f"{cache['size_bytes'] // 1024} KiB" if cache["size_bytes"] % 2**20 else f"{cache['size_bytes'] // 2**20} MiB" for cache in caches]
    known.add(", ".join(f"{cache['kind']} {size}" + (f" (shared by {cache['shared_by']})" if cache["shared_by"] > 1 else "") for cache, size in zip(caches, sizes, strict=True)))
    if part["run"] is not None:
        plan = part["run"]["plan"]
        known |= {" ".join(part["run"]["environment"]["flags"]), f"chosen from pilots ({plan['warmup']} where they fail)"}
        known |= {model["sha256"][:12] for model in part["run"]["models"]}
        known |= {plan["question"]["metric"].replace("_", " ")} if plan["question"] else set()
        known |= {"80 % of what is available"} if plan["memory_limit_bytes"] == 0 else set()
    for text in shown.facts:
        if re.search(r"\d", text):
            compared.same(text if text in known else "a fact of its own", text, "facts")


@dataclasses.dataclass
class ShownPart:
    """What is to be read of one part of a page."""

    tables: list
    headline: str
    sentences: list[str]
    first_chart: str | None
    facts: list[str]


def read_part(page, place):
    part = page.locator(f"#part-{place}")
    found = part.evaluate(READ)
    for select in page.locator(f"#part-{place}-operators > .stack select").all()[:1]:
        for index in range(1, select.locator("option").count()):
            select.select_option(index=index)
            page.evaluate(OPEN)
            found += [table for table in page.locator(f"#part-{place}-operators").evaluate(READ) if table["caption"].startswith("Operators of")]
    sentences = part.evaluate("""part => [...part.querySelectorAll(".sentence, .messages bdi, .remedy bdi, .checks bdi, .recommendations li bdi, .said-list bdi")]
        .filter(element => !element.closest("figure, .explanation, .facts, .cell-details, .headline, [id$=-operators]")).map(element => element.textContent)""")
    effects, chart = page.locator(f"#part-{place}-effects"), None
    if effects.count() > 0:
        chart = " ".join(draw(effects).locator(".drawing svg text").all_text_contents()).replace("\u00a0", " ")
    return ShownPart(found, "".join(part.locator(".headline").locator(".sentence, .rest").all_text_contents()), sentences, chart,
                     part.locator(".facts dd").all_text_contents())


def read_page(page):
    page.evaluate(OPEN)
    return [read_part(page, place) for place in range(1, page.locator("article.part").count() + 1)]


def compare_tables(shown, part, compared):
    expected, seen = tables(part), set()
    for table in shown.tables:
        if table["figure"]:
            compare_data(table, part, compared)
        elif table["caption"] in expected:
            seen.add(table["caption"])
            compare_table(table, expected[table["caption"]], compared)
        elif table["caption"] in ("Each candidate on each model", "Changes since the last run"):
            compare_matrix(table, part, compared)
        else:
            if table["caption"] not in NOT_COMPARED:
                compared.wrong.append(f"nothing says what the table “{table['caption']}” has to show")
            compared.leave(table["caption"], sum(bool(re.search(r"\d", cell["text"])) for row in table["rows"] for cell in row["cells"]))
    compared.wrong += [f"a table is not on the page: {caption}" for caption in set(expected) - seen]


def compare_page(page, document):
    """`page`: as read_page read it."""
    compared = Compared()
    for shown, part in zip(page, document["parts"], strict=True):
        compare_tables(shown, part, compared)
        compare_sentences(shown, part, compared)
        compare_figures_of_sentences(part, compared)
        compare_first_chart(shown, part, compared)
        compare_facts(shown, part, compared)
    return compared


# What is changed in the document that a page is compared with, and not on the page.
CHANGES = {
    "a value": lambda part: part["run"]["subjects"][1]["metrics"]["latency_p50"].update(value=1.002 * part["run"]["subjects"][1]["metrics"]["latency_p50"]["value"]),
    "an end of an interval": lambda part: part["run"]["subjects"][0]["metrics"]["throughput"]["interval"].update(high=2 * part["run"]["subjects"][0]["metrics"]["throughput"]["value"]),
    "a count": lambda part: part["run"]["trials"][2].update(iterations=61),
    "what a chart is made of": lambda part: part["figures"]["distributions"][0]["quantiles_s"].__setitem__(9, 1.0),
    "a change": lambda part: part["overview"]["effects"][0].update(change=0.123),
    "a sentence": lambda part: part["overview"]["headline"].update(text="1 of 2 is faster"),
    "a setting": lambda part: part["run"]["environment"].update(memory_total_bytes=1),
}


def test_a_figure_that_is_off_is_found(run_page, open_page, run_document):
    page = read_page(open_page(run_page, width=1400))
    assert not compare_page(page, run_document).wrong
    for what, change in CHANGES.items():
        document = copy.deepcopy(run_document)
        change(document["parts"][0])
        assert compare_page(page, document).wrong, what


@pytest.mark.parametrize("kind", [*KINDS, "language"])
def test_every_figure_is_the_document_s(page_of_kind, open_page, kind, record_property):
    file = page_of_kind(kind)
    compared = compare_page(read_page(open_page(file, width=1400)), document_of(file))
    print(f"{kind}: {compared.figures} figures compared; not compared: {compared.left or 'none'}")  # pytest -rP shows it
    record_property("figures", compared.figures)
    assert not compared.wrong, "\n".join(compared.wrong[:40])
    assert compared.figures >= LEAST
