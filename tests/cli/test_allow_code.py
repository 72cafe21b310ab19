"""Models that are code: refused unless the command line allows them, whatever files and variables say."""

import json

import pytest

SHORT = ("--processes", 1, "--warmup", 0, "--iterations", 3, "--quiet")
ALLOW = "--allow-code"


@pytest.fixture
def code(run):
    (run.folder / "model.pt").write_bytes(b"whatever: the fake back end reads no model")
    (run.folder / "models.py").write_text("def make(): raise SystemExit('nobody calls this')\n")
    return run


def refused(done, exit_code, *fragments):
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (exit_code, "", 1), done.stderr
    for fragment in fragments:
        assert fragment in done.stderr


def measured(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_file_that_is_code_needs_the_flag(code):
    for verb in ("run", "compare"):
        refused(code(verb, "model.pt@fake", "model.pt@fake", "--quiet"), 3, "model.pt' contains code",
                "add --allow-code if you trust it", "export it to ONNX")
    assert "model.pt@fake" in measured(code("run", "model.pt@fake", ALLOW, *SHORT))


def test_no_variable_and_no_file_allows_it(code):
    refused(code("run", "model.pt@fake", *SHORT, env={"INFERMETER_ALLOW_CODE": "true"}), 3, "contains code")
    (code.folder / "plan.toml").write_text("subjects = ['model.pt@fake']\nallow_code = true\n")
    refused(code("run", "--plan", "plan.toml", *SHORT), 2, "plan.toml:2:14: 'allow_code'", "command line only")
    (code.folder / "infermeter.toml").write_text("allow_code = true\n")
    refused(code("run", "model.pt@fake", *SHORT), 2, "infermeter.toml:1:14: 'allow_code'", "command line only")


def test_python_that_is_named_on_the_command_line_is_asked_for(code):
    for model in ("./models.py:make", "package.module:make"):
        for arguments in ([f"{model}@fake"], ["--model", model, "--backend", "fake"]):
            report = json.loads(measured(code("run", *arguments, "--format", "json", *SHORT)))
            assert report["models"][0]["format"] == "python"
    refused(code("run", "nosuch.py:make@fake", *SHORT), 2, "'nosuch.py:make' is made by a file that is not there")
    refused(code("run", "models.py@fake", *SHORT), 3, "is Python code", "models.py:FACTORY")


def test_python_that_a_plan_names_needs_the_flag(code):
    (code.folder / "plan.toml").write_text("models = ['models.py:make']\nbackends = ['fake']\n")
    refused(code("run", "--plan", "plan.toml", *SHORT), 2, "'models.py:make'", "add --allow-code")
    measured(code("run", "--plan", "plan.toml", ALLOW, *SHORT))
    measured(code("run", "--plan", "plan.toml", "--model", "models.py:make", *SHORT))
    (code.folder / "gate.toml").write_text(
        "plan = 'plan.toml'\nexpect = ['latency_p50_ms <= 60000']\n")
    refused(code("gate", "gate.toml", "--quiet"), 2, "'models.py:make'", "add --allow-code")
    (code.folder / "plan.toml").write_text("subjects = ['model.pt@fake']\nprocesses = 2\nwarmup = 0\niterations = 3\n")
    refused(code("gate", "gate.toml", "--quiet"), 2, "nothing was measured", "contains code", "--allow-code")
    measured(code("gate", "gate.toml", ALLOW, "--quiet"))


def test_what_a_file_is_can_be_looked_up(code):
    facts = json.loads(measured(code("models", "show", "model.pt", "--format", "json")))
    assert facts["format"] == "pt"
