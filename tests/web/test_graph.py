"""The graph of operators: what is drawn is what the engine wrote, by mouse and by keyboard, whoever named the operators."""

import copy
import itertools
import json
import re
import xml.etree.ElementTree as xml

import jsonschema
import pytest

from .accessibility import assert_axe_finds_nothing
from .document import document_of
from .drawing import draw
from .test_hostile import NAMES, PAGES, assert_only_shown, everywhere

SVG = "{http://www.w3.org/2000/svg}"
SHARES = [0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]  # the largest share is 67 %
ERRORS = [0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1]


def operators_file(operators):
    """`operators`: (name, kind, nanoseconds, inputs, outputs)."""
    listed = [{"name": name, "kind": kind, "shapes": "(1, 8) -> (1, 8)", "inputs": inputs, "outputs": outputs} for name, kind, _, inputs, outputs in operators]
    return json.dumps({"format": "infermeter-operators", "version": 1, "operators": listed,
                       "means": {"duration_ns": [each[2] for each in operators], "calls": [1] * len(operators)}})


# A block with a skip, twice, and a conversion that nobody shows the place of.
BLOCK = [("conv 1", "Conv", 400_000, ["x"], ["a"]), ("relu 1", "Relu", 3_000, ["a"], ["b"]), ("conv 2", "Conv", 100_000, ["b"], ["c"]),
         ("add", "Add", 15_000, ["c", "a"], ["d"]), ("conv 3", "Conv", 30_000, ["d"], ["e"]), ("softmax", "Softmax", 700, ["e"], ["y"]),
         ("reorder", "Reorder", 50_000, [], [])]
EDGES = [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (4, 5)]


@pytest.fixture
def imported(written, tmp_path_factory):
    """imported(operators, …) -> the page of these operators, a subject each."""
    def make(*subjects):
        folder = tmp_path_factory.mktemp("operators")
        files = []
        for index, operators in enumerate(subjects):
            file = folder / f"operators-{index}.json"
            file.write_text(operators_file(operators))
            files.append(f"subject{index}={file}")
        return written("import", *files)
    return make


def graph(page):
    return draw(page.locator("#part-1-graph"))


def boxes(figure):
    """The nodes that are drawn with their texts: fills, in the order of the layers."""
    return figure.locator(".in-view > path.area[stroke]").evaluate_all("all => all.map(box => box.getAttribute('fill'))")


def edges_drawn(figure):
    return figure.locator(".in-view > path").first.get_attribute("d").count("M")


def legend(figure):
    """The colours of the legend, from the least value on."""
    return figure.locator("svg.graph > path.area[stroke]").evaluate_all("all => all.slice(1, 10).map(box => box.getAttribute('fill'))")


def texts(figure):
    return figure.locator(".in-view > text").all_text_contents()


def foot(figure):
    return figure.locator(".more-of-it").inner_text()


def step(value, steps):
    return sum(value >= least for least in steps) - 1


def kept(page, text):
    page.wait_for_function("text => decodeURIComponent(location.hash).includes(text)", arg=text)


def moved(page, before):
    """The address once it is another one: it is written a moment after what is shown changed."""
    page.wait_for_function("before => location.hash !== before", arg=before)
    return page.evaluate("location.hash")


def layout_of(document):
    return document["parts"][0]["graphs"][0]


def test_the_engine_tells_edges_and_places(imported, source_dir):
    part = document_of(imported(BLOCK))["parts"][0]
    table = part["run"]["profile"]["subjects"][0]["table"]
    assert sorted(zip(table["graph"]["from"], table["graph"]["to"])) == sorted(EDGES)
    assert table["graph"]["reason"] == ""
    schema = json.loads((source_dir / "docs/schema/run.schema.json").read_text())
    jsonschema.Draft202012Validator({"$schema": schema["$schema"], "$ref": "#/$defs/profile", "$defs": schema["$defs"]}).validate(part["run"]["profile"])
    (layout,) = part["graphs"]
    schema = json.loads((source_dir / "docs/schema/report.schema.json").read_text())
    jsonschema.Draft202012Validator({"$schema": schema["$schema"], "$ref": "#/$defs/graph_layout", "$defs": schema["$defs"]}).validate(layout)
    assert layout["layer"][:6] == [0, 1, 2, 3, 4, 5]
    assert layout["layer"][6] > 6 and layout["apart"] == 1
    assert [(each["node"], len(each["x"])) for each in layout["bends"]] == [(0, 2)]


HEAVIEST = ("Gemm", "MatMul", "FullyConnected", "FusedGemm", "aten::linear")


@pytest.mark.parametrize("backend", ["onnxruntime", "openvino", "pytorch", "jax"])
def test_runtimes_tell_their_graph(written, backend):
    pytest.importorskip({"pytorch": "torch"}.get(backend, backend))
    part = document_of(written("profile", f"mlp@{backend}", "--processes", "1", "--warmup", "1", "--iterations", "3", "--profile-processes", "1",
                               "--profile-iterations", "3"))["parts"][0]
    (layout,) = part["graphs"]
    table = part["run"]["profile"]["subjects"][0]["table"]
    assert layout["apart"] == 0 and len(layout["layer"]) == len(table["operators"])
    layer = layout["layer"]
    assert all(layer[below] > layer[above] for above, below in zip(table["graph"]["from"], table["graph"]["to"]))
    heaviest = [each["op"] for each in table["operators"] if each["kind"] in HEAVIEST or "ynn" in each["kind"] or "dot" in each["kind"]]
    assert len({layer[op] for op in heaviest}) == len(heaviest) >= 3, "the layers of the network follow each other"


def test_nodes_edges_and_colours_are_the_documents(imported, open_page):
    file = imported(BLOCK)
    table = document_of(file)["parts"][0]["run"]["profile"]["subjects"][0]["table"]
    layout = layout_of(document_of(file))
    page = open_page(file)
    figure = graph(page)
    shares = {each["op"]: each["share"] for each in table["operators"]}
    order = sorted(shares, key=lambda op: (layout["layer"][op], layout["x"][op]))
    colours = legend(figure)
    assert len(set(colours)) == 9
    assert boxes(figure) == [colours[step(shares[op], SHARES)] for op in order]
    assert len({step(share, SHARES) for share in shares.values()}) > 4, "the shares are of several colours"
    assert edges_drawn(figure) == len(EDGES)
    names = {each["op"]: each["name"] for each in table["operators"]}
    reported = texts(figure)
    for op in order:
        assert names[op] in reported
    assert "All 7 nodes are in view" in figure.inner_text()
    assert "1 node has no place in it" in figure.inner_text()


def test_a_namespace_leaves_the_room_of_a_box_to_the_kind(imported, open_page):
    kinds = ["aten::conv2d", "aten::native_layer_norm", "a::b::c", "::x", "y::"]
    page = open_page(imported([(f"n{i}", kind, 1000, [f"t{i}"], [f"t{i + 1}"]) for i, kind in enumerate(kinds)]))
    shown = " ".join(texts(graph(page)))
    assert "conv2d 20 %" in shown and "aten" not in shown
    assert "b::c 20 %" in shown and "::x 20 %" in shown and "y:: 20 %" in shown
    graph(page).locator(".drawing").focus()
    page.keyboard.press("Home")
    assert foot(graph(page)).startswith("aten::conv2d n0")


def test_arrows_go_along_edges_and_say_what_they_come_to(imported, open_page):
    page = open_page(imported(BLOCK))
    figure = graph(page)
    assert foot(figure).startswith("Point at a node")
    figure.locator(".drawing").focus()
    page.keyboard.press("ArrowDown")
    assert foot(figure).startswith("Conv conv 1 67 %"), "it begins at the largest"
    assert "400 µs" in foot(figure) and "(1, 8) -> (1, 8)" in foot(figure)
    for expected in ("Relu relu 1", "Conv conv 2", "Add add", "Conv conv 3"):
        page.keyboard.press("ArrowDown")
        assert foot(figure).startswith(expected)
    page.keyboard.press("ArrowUp")
    assert foot(figure).startswith("Add add")
    page.keyboard.press("End")
    assert foot(figure).startswith("Reorder reorder")
    page.keyboard.press("Home")
    assert foot(figure).startswith("Conv conv 1")
    assert figure.locator(".more-of-it").get_attribute("aria-live") == "polite"
    kept(page, "//0")


def test_enter_leads_to_the_row_and_the_row_back(imported, open_page):
    other = [("slow", "Conv", 900_000, ["x"], ["a"]), ("last", "Relu", 5_000, ["a"], ["y"])]
    page = open_page(imported(BLOCK, other))
    figure = graph(page)
    figure.locator("select").select_option(label="subject1")
    figure.locator(".drawing").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert foot(figure).startswith("Relu last")
    page.keyboard.press("Enter")
    row = page.locator("tr.linked")
    assert row.locator("th").inner_text().startswith("last"), "of the other subject's table"
    assert page.evaluate("document.activeElement.textContent") == "In the graph"
    first = page.get_by_role("button", name="In the graph: slow")
    first.click()
    assert foot(figure).startswith("Conv slow")
    assert page.evaluate("document.activeElement.classList.contains('drawing')")


def test_a_click_on_a_node_leads_to_its_row(imported, open_page):
    page = open_page(imported(BLOCK))
    figure = graph(page)
    figure.locator(".in-view > path.area[stroke]").nth(1).click()
    assert page.locator("tr.linked th").inner_text().startswith("relu 1")


def test_a_row_that_was_filtered_away_is_shown(imported, open_page):
    many = [(f"operator {i}", "Conv", 1000 + i, [f"t{i}"], [f"t{i + 1}"]) for i in range(300)]
    page = open_page(imported(many))
    figure = graph(page)
    page.get_by_label("Filter").first.fill("operator 299")
    figure.locator(".drawing").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.locator("tr.linked th").inner_text().startswith("operator 0")
    assert page.get_by_label("Filter").first.input_value() == "operator 0", "the table shows its first 250 rows"
    figure.locator(".drawing").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert page.locator("tr.linked th").inner_text().startswith("operator 299"), "the slowest is among them"
    assert page.get_by_label("Filter").first.input_value() == ""


def test_zooms_by_keys_buttons_and_ctrl_wheel_only(imported, open_page):
    chain = [(f"operator {i}", "Conv", 1000 + i, [f"t{i}"], [f"t{i + 1}"]) for i in range(60)]
    page = open_page(imported(chain))
    figure = graph(page)
    count = len(boxes(figure))
    assert 3 < count < 20
    figure.locator(".drawing").focus()
    page.keyboard.press("+")
    page.wait_for_function("count => document.querySelectorAll('.in-view > path.area[stroke]').length < count", arg=count)
    address = moved(page, "")
    page.keyboard.press("0")
    page.wait_for_function("() => document.querySelector('#part-1-graph').innerText.includes('All 60 nodes are in view; zoom in to read them')")
    assert boxes(figure) == [], "as shapes without texts"
    address = moved(page, address)
    figure.get_by_role("button", name="Zoom in").click()
    address = moved(page, address)
    assert address.startswith("#part-1-graph=/")
    scrolled = page.evaluate("scrollY")
    box = figure.locator("svg.graph").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.wheel(0, 200)
    page.wait_for_function("before => scrollY !== before", arg=scrolled)
    assert page.evaluate("location.hash") == address, "a plain wheel scrolls the page"
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    moved(page, address)


def test_the_address_keeps_what_is_shown(imported, open_page):
    file = imported(BLOCK)
    page = open_page(file)
    figure = graph(page)
    figure.locator(".drawing").focus()
    page.keyboard.press("End")
    page.keyboard.press("+")
    page.wait_for_function("() => /graph=\\/[^\\/]+\\/6/.test(decodeURIComponent(location.hash))")
    hash_, drawn = page.evaluate("location.hash"), texts(figure)
    again = open_page(file)
    again.evaluate(f"location.hash = {hash_!r}")
    figure = graph(again)
    again.wait_for_function("() => document.querySelector('#part-1-graph .more-of-it').innerText.startsWith('Reorder reorder')")
    assert texts(figure) == drawn


def test_without_edges_there_is_no_picture_but_a_reason(imported, open_page):
    page = open_page(imported([("a", "Conv", 1000, [], []), ("b", "Relu", 500, [], [])]))
    assert page.locator("#part-1-graph").count() == 0
    assert "No graph: the runtime does not report which operator reads what another one makes" in page.locator("#part-1-operators").inner_text()
    assert page.get_by_role("button", name="In the graph").count() == 0


def test_five_thousand_nodes_are_drawn_as_far_as_they_are_in_view(imported, open_page):
    nodes = [(f"block {i // 4}/operator {i}", "Conv", 1000 + i % 97, [f"t{i - 1}", f"t{i - 5}"] if i > 5 else [f"t{i - 1}"], [f"t{i}"]) for i in range(5000)]
    page = open_page(imported(nodes))
    figure = graph(page)
    assert len(boxes(figure)) < 40
    assert re.search(r"\d+ of 5000 nodes are in view", figure.inner_text())
    figure.get_by_role("button", name="Show all").click()
    page.wait_for_function("() => document.querySelector('#part-1-graph').innerText.includes('All 5000 nodes are in view; zoom in')")
    assert figure.locator("svg.graph *").count() < 1500


@pytest.mark.parametrize("names", PAGES)
def test_hostile_names_are_only_shown(imported, page_of, run_document, names):
    document = document_of(imported([(f"operator {i}", "Conv", 1000 * (i + 1), [f"t{i}"], [f"t{i + 1}"]) for i in range(12)]))
    profile = everywhere(document["parts"][0]["run"]["profile"], itertools.cycle(PAGES[names]))
    profile["subjects"][0]["table"]["graph"]["reason"] = ""
    document["parts"][0]["run"]["profile"] = profile
    page = page_of(document)
    figure = graph(page)
    figure.locator(".drawing").focus()
    for key in ("ArrowDown", "ArrowUp", "Home", "Enter", "0", "+"):
        page.keyboard.press(key)
    assert_only_shown(page, names, "#part-1-operators")
    with page.expect_download() as waiting:
        figure.get_by_role("button", name="Save as SVG").click()
    xml.parse(waiting.value.path())


def test_the_engine_keeps_hostile_names_and_tensors(imported, open_page):
    names = [name for key, name in NAMES.items() if key != "surrogate"]  # JSON files hold no half of a pair
    file = imported([(name, name, 1000 * (at + 1), [names[at - 1]] if at > 0 else [], [name]) for at, name in enumerate(names)])
    table = document_of(file)["parts"][0]["run"]["profile"]["subjects"][0]["table"]
    assert list(zip(table["graph"]["from"], table["graph"]["to"])) == [(at, at + 1) for at in range(len(names) - 1)]
    assert edges_drawn(graph(open_page(file))) > 0


def test_saved_files_hold_the_graph(imported, open_page):
    page = open_page(imported(BLOCK))
    figure = graph(page)
    with page.expect_download() as waiting:
        figure.get_by_role("button", name="Save as SVG").click()
    root = xml.parse(waiting.value.path()).getroot()
    written = {"".join(text.itertext()) for text in root.iter(f"{SVG}text")}
    assert {"conv 1", "reorder"} <= written
    assert any(path.get("d").count("M") == len(EDGES) for path in root.iter(f"{SVG}path"))
    with page.expect_download() as waiting:
        figure.get_by_role("button", name="Save as PNG").click()
    assert waiting.value.path().read_bytes().startswith(b"\x89PNG")


def test_axe_finds_nothing(imported, open_page, axe):
    page = open_page(imported(BLOCK), width=360)
    figure = graph(page)
    figure.locator(".drawing").focus()
    page.keyboard.press("ArrowDown")
    assert_axe_finds_nothing(page, axe)


def test_texts_can_be_read_on_every_colour(imported, open_page):
    """WCAG's contrast of 4.5, light and dark."""
    def luminance(colour):
        channels = [int(each) for each in re.findall(r"\d+", colour)] if colour.startswith("rgb") else [int(colour[at:at + 2], 16) for at in (1, 3, 5)]
        linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in (channel / 255 for channel in channels)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    for colour in ("light", "dark"):
        figure = graph(open_page(imported(BLOCK), colour=colour))
        pairs = figure.locator("svg.graph > path.area[stroke]").evaluate_all("all => all.slice(1, 10).map(box => [box.getAttribute('fill'), box.nextElementSibling.getAttribute('fill')])")
        assert len(pairs) == 9
        for ground, text in pairs:
            high, low = sorted((luminance(ground), luminance(text)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (colour, ground, text)


@pytest.fixture
def layers_page(imported, page_of, run_document, parts):
    """Twelve nodes in a row that make the twelve tensors, and one that makes nothing that was compared."""
    chain = [(f"node {i}", "Conv", 1000, [f"t{i}"], [f"t{i + 1}"]) for i in range(13)]
    layout = layout_of(document_of(imported(chain))) | {"subject": None}

    def make(change=lambda part: None, **options):
        part = copy.deepcopy(parts["layers"])
        nodes = [{"name": f"node {i}", "operator": "Conv", "tensors": [i] if i < 12 else []} for i in range(13)]
        part["layers"]["graph"] = {"nodes": nodes, "from": list(range(12)), "to": list(range(1, 13)), "left_out": 0}
        part["graphs"] = [layout]
        change(part)
        return page_of(run_document | {"parts": [part]}, **options)
    return make


def test_layers_are_coloured_by_their_error(layers_page):
    page = layers_page()
    figure = graph(page)
    figure.get_by_role("button", name="Show all").click()
    page.wait_for_function("() => document.querySelectorAll('.in-view > path.area[stroke]').length === 13")
    errors = [0 if i < 2 else 1e-7 if i < 6 else 0.1 for i in range(12)]
    colours = legend(figure)
    assert boxes(figure)[:12] == [colours[step(error, ERRORS)] for error in errors]
    assert boxes(figure)[12] not in colours[1:], "nothing was compared"
    assert edges_drawn(figure) == 12
    assert "1 node makes nothing that was compared" in figure.inner_text()
    figure.locator(".drawing").focus()
    page.keyboard.press("ArrowDown")
    assert foot(figure).startswith("Conv node 6 0.10"), "it begins where they diverge"
    page.keyboard.press("Enter")
    assert page.locator("tr.linked th").inner_text().startswith("tensor 6")
    page.get_by_role("button", name="In the graph: tensor 2", exact=True).click()
    assert foot(figure).startswith("Conv node 2 1.0e-7")


def test_what_is_finite_in_one_only_is_the_worst(layers_page):
    def change(part):
        part["layers"]["tensors"][3] |= {"error": None, "non_finite_apart": 2}
    page = layers_page(change)
    figure = graph(page)
    page.get_by_role("button", name="In the graph: tensor 3", exact=True).click()
    assert foot(figure).startswith("Conv node 3 NaN") and "NaN or infinite in one only" in foot(figure)
    page.wait_for_function("() => [...document.querySelectorAll('.in-view > text')].some(text => text.textContent === 'Conv NaN')")
    assert legend(figure)[8] in boxes(figure)


def test_layers_without_edges_have_no_picture(layers_page):
    page = layers_page(lambda part: part.update(graphs=[]))
    assert page.locator("#part-1-graph").count() == 0
    assert page.get_by_role("button", name="In the graph").count() == 0
