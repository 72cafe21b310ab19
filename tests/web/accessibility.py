"""What axe-core says of a page, in the widths and colours that readers have."""

import os

COLOURS = ["light", "dark"]

# Contrast, which takes most of the time, changes with the colours and not with the width; all else the other way round. A change of
# either draws the pictures anew. INFERMETER_AXE=all: every rule in every look.
LOOKS = [(360, "light", "rules: {}"), (1400, "light", "rules: { 'color-contrast': { enabled: false } }"), (1400, "dark", "runOnly: ['color-contrast']")]
if os.environ.get("INFERMETER_AXE") == "all":
    LOOKS = [(width, colour, "rules: {}") for width in (360, 1400) for colour in COLOURS]

# Hundreds of rows of data are all alike, and looking at each takes axe minutes.
LEAVE_OUT_ROWS = "for (const rows of document.querySelectorAll('tbody')) for (const row of [...rows.rows].slice(2)) row.remove()"


def assert_axe_finds_nothing(page, axe, root="document"):
    """Of `root`, an expression for an element; `axe` is axe-core's source."""
    for width in {look[0] for look in LOOKS}:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "with all of its rows"
    page.evaluate(LEAVE_OUT_ROWS)
    page.evaluate(axe)  # evaluated by the debugger: the page's policy would not let it in
    shown = "light"
    for width, colour, rules in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        if colour != shown:
            page.get_by_label("Theme").select_option(colour)
            shown = colour
        found = page.evaluate(f"axe.run({root}, {{ resultTypes: ['violations'], {rules} }}).then(result => result.violations)")
        reported = [f"{width} {colour} {each['id']}: {each['help']}: {[node['target'] for node in each['nodes']][:3]}" for each in found]
        assert not reported, "\n".join(reported)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
