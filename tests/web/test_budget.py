"""How much a page may hold that is the same in all of them."""


def test_script_and_style_keep_their_budget(build_dir):
    assert (build_dir / "web/report.js").stat().st_size <= 900_000
    assert (build_dir / "web/report.css").stat().st_size <= 30_000
