"""The back end of JAX, called as a worker calls it."""

import json
import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

FRAMEWORK = "jax"


@pytest.fixture
def in_new_process(build_dir):
    """in_new_process(source) -> what it prints: JAX reads some things once in a process."""

    def run(source, **variables):
        file = build_dir / "lib/infermeter/backends/infermeter_backend_jax.py"
        start = f"""
            from infermeter._host import load_file
            from infermeter.backend import Environment, Load, Refused
            back_end = load_file({str(file)!r})
        """
        environment = os.environ | {"PYTHONPATH": str(build_dir / "python")} | variables
        program = textwrap.dedent(start) + textwrap.dedent(source)
        result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout.splitlines()

    return run


LOAD_WITH_THREADS = """
    def load(threads, model):
        runtime = back_end.open_runtime(Environment())
        try:
            session = runtime.load(Load(model, "mlp", "cpu", "float32", threads, 1))
        except Refused as refused:
            return str(refused)
        return session.executed()["threads"] + " " + str(back_end._thread_names().count("tf_XLAEigen"))
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_are_as_many_as_asked_for(threads, in_new_process, onnx_file):
    other = threads + 1
    lines = in_new_process(
        f"{LOAD_WITH_THREADS}\n"
        f"    import os\n"
        f"    model = {str(onnx_file('mlp'))!r}\n"
        f"    print(load({threads}, model))\n"
        f"    print(load({threads}, model))\n"
        f"    print(load({other}, model))\n"
        f"    print(os.environ.get('PJRT_NPROC'))\n"
    )
    assert lines[:2] == [f"{threads} {threads}"] * 2
    assert f"started with threads={threads} in this process" in lines[2] and f"threads={other} was asked" in lines[2]
    assert lines[3] == "None"


def test_threads_without_names_are_counted_too(in_new_process, onnx_file):
    """As in a sandbox, where one thread may not name another."""
    lines = in_new_process(
        f"{LOAD_WITH_THREADS}\n"
        "    real = back_end._thread_names\n"
        "    back_end._thread_names = lambda: ['python'] * len(real())\n"
        f"    model = {str(onnx_file('mlp'))!r}\n"
        "    print(load(2, model))\n"
        "    print(load(1, model))\n"
    )
    assert lines[0] == "2 0" and "started with threads=2" in lines[1]


def test_a_thread_that_ends_while_threads_are_counted_is_not_counted(in_new_process):
    lines = in_new_process(
        """
        listed = back_end.Path.glob
        gone = back_end.Path("/proc/self/task/0/comm")
        back_end.Path.glob = lambda folder, pattern: [*listed(folder, pattern), gone]
        print(len(back_end._thread_names()) >= 1)
        """
    )
    assert lines == ["True"]


def test_a_client_that_others_started_is_not_taken_for_ours(in_new_process, onnx_file):
    lines = in_new_process(
        f"{LOAD_WITH_THREADS}\n"
        "    import jax\n"
        "    jax.devices()\n"
        f"    model = {str(onnx_file('mlp'))!r}\n"
        "    print(load(2, model))\n"
        "    print(load(3, model))\n",
        PJRT_NPROC="2",
    )
    assert lines[0] == "2 2" and "PJRT_NPROC=3" in lines[1]


def test_asking_what_there_is_does_not_start_the_client(in_new_process):
    lines = in_new_process(
        """
        print(back_end.open_runtime(Environment()).info.devices[0])
        print(back_end._thread_names().count("tf_XLAEigen"))
        """
    )
    assert lines == ["cpu", "0"]


@pytest.mark.parametrize(
    ("name", "dtype", "nearest", "farthest"),
    [("mlp", "float16", 1e-4, 1e-2), ("resnet50", "bfloat16", 1e-3, 5e-2), ("vit_b_16", "bfloat16", 1e-3, 5e-2)],
)
def test_precisions_are_executed(
    name, dtype, nearest, farthest, runtime, load_of, onnx_file, run_once, input_of, expected, distance
):
    session = runtime.load(load_of(onnx_file(name), name, dtype=dtype, batch=1))
    (values,) = run_once(session, input_of(name, 1))
    assert values.dtype.name == dtype == session.executed()["dtype"]
    assert "dtype_from" not in session.executed()  # converted, as was asked
    assert nearest <= distance(values, expected(name, 1)) <= farthest
    assert [(port.name, port.dtype, port.shape) for port in session.outputs] == [("output", dtype, values.shape)]
    assert session.executed()["provider"] == "xla"
    assert session.device_memory() is None


def test_precision_of_products_is_told_and_put_back(runtime, load_of, onnx_file, run_once, input_of):
    import jax

    before = jax.config.jax_default_matmul_precision
    session = runtime.load(load_of(onnx_file("mlp"), "mlp"))
    run_once(session, input_of("mlp"))
    assert session.executed()["matmul_precision"] == "default"
    # What an accelerator's session would compile with, whose default is a shorter type.
    session._load = load_of(device="cuda")
    assert session.executed()["matmul_precision"] == "highest"
    x = jax.ShapeDtypeStruct((2, 2), "float32")
    with session._precision():
        assert "HIGHEST" in jax.jit(lambda a: a @ a).lower(x).as_text()
    assert jax.config.jax_default_matmul_precision == before


def test_functions_trees_and_names(runtime, load_of, factory, run_once):
    model = factory(
        "def make():\n"
        "    def f(x, ids):\n"
        "        return {'sum': x.sum(1), 'rest': (ids * 2, x[0, 0])}\n"
        "    return Model(f, [Port('x', 'float32', ('batch', 'width')), Port('ids', 'int32', (None, 2))])\n"
    )
    session = runtime.load(load_of(model, batch=3, dimensions={"width": "5"}))
    ids, first, sums = run_once(session, np.ones((3, 5), np.float32), np.full((3, 2), 7, np.int32))
    assert sums.tolist() == [5, 5, 5] and ids.tolist() == [[14, 14]] * 3 and first == 1
    assert [(port.name, port.dtype, port.shape) for port in session.outputs] == [
        ("output.rest.0", "int32", (3, 2)),
        ("output.rest.1", "float32", ()),
        ("output.sum", "float32", (3,)),
    ]
    assert "parameters" not in session.executed()


def test_modules_are_in_inference_mode_and_values_are_copies(runtime, load_of, factory, run_once):
    model = factory(
        "class M(nnx.Module):\n"
        "    def __init__(self, rngs):\n"
        "        self.layer = nnx.Linear(3, 3, rngs=rngs, kernel_init=nnx.initializers.ones)\n"
        "        self.drop = nnx.Dropout(0.5, rngs=rngs)\n"
        "        self.norm = nnx.BatchNorm(3, rngs=rngs)\n"
        "    def __call__(self, x):\n"
        "        return self.norm(self.drop(self.layer(x)))\n"
        "def make():\n"
        "    return M(nnx.Rngs(0))\n"
    )
    session = runtime.load(load_of(model, input_shape="1x3"))
    (first,) = run_once(session, np.ones((2, 3), np.float32))
    np.testing.assert_allclose(first, 3 / np.sqrt(1 + 1e-5), rtol=1e-6)
    step = session.bind([np.zeros((2, 3), np.float32)])
    assert session.values(step())[0].tolist() == [[0] * 3] * 2 and first.min() > 2.9
    assert session.executed()["parameters"] == str(9 + 3 + 3 + 3)


def test_outputs_of_a_dict_have_their_own_names(runtime, load_of, factory, run_once):
    """JAX sorts its keys."""
    session = runtime.load(load_of(factory(
        "def make():\n    return Model(lambda x: {'logits': x + 1, 'aux': x[:2]}, [Port('x', 'float32', (3,))], ('logits', 'aux'))\n")))
    logits, aux = run_once(session, np.zeros(3, np.float32))
    assert [(port.name, port.shape) for port in session.outputs] == [("logits", (3,)), ("aux", (2,))]
    assert logits.tolist() == [1, 1, 1] and aux.tolist() == [0, 0]


def test_what_cannot_be_done_is_refused(refused, factory, onnx_file):
    mlp = onnx_file("mlp")
    assert "has no device 'mps' here; it has cpu" in refused(mlp, "mlp", device="mps")
    assert "has no definition of the zoo's unet2d; it has mlp, resnet50, vit_b_16" in refused(mlp, "unet2d")
    assert "jax has no option compile; it has input_shape" in refused(mlp, "mlp", compile="true")
    assert "input 'input' of [batch, 16] has no fixed size: give --batch-sizes" in refused(mlp, "mlp", batch=0)
    function = factory("def make():\n    return lambda x: x @ x\n")
    assert "convert the arrays within a function to float16" in refused(function, dtype="float16", input_shape="1x2")
    assert "turn input 'input' from int64" in refused(function, input_shape="1x2:int64")
    assert "JAX cannot compile test_what" in refused(function, input_shape="1x3")
    names = factory("def make():\n    return Model(lambda x: (x, x), [Port('x', 'float32', (1,))], ('only',))\n")
    assert "names 1 outputs (only) and returns 2" in refused(names)


def test_a_missing_framework_is_said_with_the_way_to_get_it(plugin, monkeypatch):
    from infermeter.backend import Environment, Refused

    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(Refused, match="JAX is not installed in .*: scripts/setup --with jax, or pip install jax"):
        plugin("infermeter_backend_jax").open_runtime(Environment())


def profiled(session, folder, array, steps=3):
    """operators.json of that many steps, after one that nobody records."""
    folder.mkdir()
    session.compile()
    step = session.bind([array])
    step()
    session.profile_begin(str(folder))
    for _ in range(steps):
        step()
    session.profile_end(str(folder))
    assert [file.name for file in folder.iterdir()] == ["operators.json"], "the trace names the machine, and goes"
    return json.loads((folder / "operators.json").read_text())


def test_a_profile_has_the_operations_of_each_recorded_iteration(runtime, factory, load_of, tmp_path):
    body = "def make():\n    return lambda x: jnp.sin(x @ x).sum()\n"
    load = load_of(factory(body), input_shape="256x256", profile_folder=tmp_path / "made", batch=256)
    reported = profiled(runtime.load(load), tmp_path / "made", np.ones((256, 256), np.float32))
    assert (reported["format"], reported["version"], reported["clock"], reported["iterations"]) == ("infermeter-operators", 1, "iteration", 3)
    names = [operator["name"] for operator in reported["operators"]]
    assert any("dot" in name or "fusion" in name for name in names)
    assert any("dot_general" in origin for operator in reported["operators"] for origin in operator["origin_names"])
    events = reported["events"]
    assert len({len(column) for column in events.values()}) == 1
    assert set(events["iteration"]) == {0, 1, 2} and set(events["op"]) == set(range(len(names)))
    assert min(events["begin_ns"]) >= 0 and min(events["duration_ns"]) >= 0
    # 2 * 256^3 for the product alone.
    assert int(re.search(r"XLA counts (\d+) FLOPs", reported["sources"][0]["detail"])[1]) > 2 * 256**3


def test_without_a_folder_no_annotation_is_around_a_step(runtime, factory, load_of):
    session = runtime.load(load_of(factory("def make():\n    return lambda x: x + 1\n"), input_shape="2x3"))
    session.compile()
    assert session.bind([np.ones((2, 3), np.float32)]).__name__ == "<lambda>"


def test_what_lies_within_another_operation_is_not_counted_twice():
    from infermeter.xla_operators import Event, own_times

    # A loop with two runs of its body, the second of which calls something; then another operation.
    nested = [Event("loop", 0, 100), Event("body", 10, 30), Event("body", 40, 90), Event("call", 50, 60),
              Event("next", 100, 105)]
    assert [(e.name, e.begin, e.end) for e in own_times(nested)] == [
        ("loop", 0, 10), ("body", 10, 30), ("loop", 30, 40), ("body", 40, 50), ("call", 50, 60), ("body", 60, 90),
        ("loop", 90, 100), ("next", 100, 105)]


def test_only_what_runs_beside_something_else_leaves_the_first_lane():
    from infermeter.xla_operators import Event, Recorded, operators_of

    iterations = [Event("i", 1000, 1100), Event("i", 2000, 2100)]
    # The pool's threads take turns; in the second iteration both work at once.
    first = [Event("conv", 1010, 1090), Event("relu", 2030, 2040), Event("stray", 1500, 1510)]
    second = [Event("relu", 1090, 1095), Event("conv", 2020, 2090), Event("add", 2090, 2099)]
    made = operators_of(Recorded(iterations, [first, second]), {"conv": {"kind": "convolution"}})
    assert [(operator["name"], operator["kind"]) for operator in made.operators] == [
        ("conv", "convolution"), ("relu", "relu"), ("add", "add")]
    assert list(zip(*made.events.values(), strict=True)) == [
        (0, 0, 0, 10, 80), (0, 1, 0, 90, 5), (1, 0, 0, 20, 70), (1, 1, 1, 30, 10), (1, 2, 0, 90, 9)]


def test_a_compiled_program_tells_shapes_origins_and_edges():
    from infermeter.xla_operators import describe

    reported = describe("""
ENTRY %main.5 (x.1: f32[4,8], w.1: f32[8,2]) -> f32[4,2] {
  %x.1 = f32[4,8]{1,0} parameter(0), metadata={op_name="x"}
  %w.1 = f32[8,2]{1,0} parameter(1), metadata={op_name="w"}
  %dot.3 = f32[4,2]{1,0} dot(%x.1, %w.1), metadata={op_name="jit(f)/layer/dot_general" source_line=3}
  ROOT %add_fusion = f32[4,2]{1,0} fusion(%dot.3), kind=kLoop, calls=%fused, metadata={op_name="jit(f)/add"}
}""")
    assert reported["dot.3"]["shapes"] == "(4, 8), (8, 2) -> (4, 2)"
    assert reported["dot.3"]["origin_names"] == ["jit(f)/layer/dot_general"]
    assert reported["add_fusion"]["inputs"] == reported["dot.3"]["outputs"]
    assert (reported["dot.3"]["precision"], reported["dot.3"]["layout"]) == ("float32", "1,0")
