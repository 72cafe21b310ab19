"""The work that bench/verdicts has compared: a base, and a candidate that does some percent more. Each says how it is
given to each tool: as a subject of infermeter, as a command, as a Google Benchmark."""
import os
import pathlib
import tempfile

import verdict_tools

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("INFERMETER_BUILD", ROOT / "build/release"))


class Work:
    program = BUILD / "bin/infermeter"
    needs_reference = False

    def __init__(self, arguments):
        self.max_pairs = arguments.max_pairs

    def missing(self):
        return [str(path) for path in (self.program, *self.programs) if not path.exists()]

    def prepare(self, effects):
        """Whatever takes time and is not a part of a verdict."""


class Fake(Work):
    """The fake back end's compute=N: all tools time the same machine code (backends/fake/compute.hpp), and N + 1 % is
    slower by 1 %. The command does 120 inferences, so that starting it matters little."""
    tools = tuple(verdict_tools.TOOLS)
    programs = (BUILD / "bench/work", BUILD / "bench/google_work")
    inferences, runs = 120, 30  # of a command, and of hyperfine

    def __init__(self, arguments):
        super().__init__(arguments)
        self.units = arguments.units

    def settings(self):
        return {"units": self.units, "inferences_per_command": self.inferences, "hyperfine_runs": self.runs}

    def units_of(self, effect):
        return round(self.units * (1 + effect / 100))

    def subject(self, effect):
        return f"mlp@fake,compute={self.units_of(effect)}"

    def command(self, effect):
        return [self.programs[0], self.units_of(effect), self.inferences]

    def google(self, effect):
        return [self.programs[1], self.units_of(effect)]


class ResNet50(Work):
    """ResNet-50 on ONNX Runtime, and the same with some extra work (heavier_model.py). What that truly costs is measured:
    a share of the multiplications is not the same share of the time."""
    tools = ("infermeter", "hyperfine", "pyperf")
    programs = (BUILD / "bench/bare_onnxruntime",)
    needs_reference = True
    inferences, runs = 40, 15

    def __init__(self, arguments):
        super().__init__(arguments)
        self.folder = tempfile.TemporaryDirectory(prefix="infermeter-verdicts-")
        self.threads = len(os.sched_getaffinity(0))
        libraries = sorted(ROOT.glob(".venv/lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so*"))
        self.library = libraries[0] if libraries else ROOT / ".venv/…/libonnxruntime.so"
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"

    def missing(self):
        return super().missing() + ([] if self.library.exists() else [str(self.library)])

    def settings(self):
        return {"threads": self.threads, "inferences_per_command": self.inferences, "hyperfine_runs": self.runs}

    def prepare(self, effects):
        verdict_tools.done(self.program, "models", "build", "resnet50", self.model(0))
        for effect in set(effects) - {0}:
            import heavier_model
            heavier_model.write(self.model(0), effect / 100, self.model(effect))

    def model(self, effect):
        return pathlib.Path(self.folder.name) / f"resnet50-{effect}.onnx"

    def subject(self, effect):
        return f"{self.model(effect)}@onnxruntime"

    def command(self, effect):
        return [self.programs[0], self.library, self.model(effect), self.threads, 0, self.inferences]

    def inference_seconds(self, effect):
        return float(verdict_tools.done(*self.command(effect)[:4], 10, 60))


WORKLOADS = {"fake": Fake, "resnet50": ResNet50}
