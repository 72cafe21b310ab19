"""The peaks of this machine, one thread: against the best square matrix product of PyTorch, ONNX Runtime and OpenVINO,
and against likwid-bench (Debian's likwid) where it is installed.

Prints a line of JSON per figure: what, unit, our values, the peer's, the target. INFERMETER_BUILD says which build is
measured. All are best figures: what other programs take away is not a property of the machine.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
infermeter = pathlib.Path(os.environ.get("INFERMETER_BUILD", root / "build/release")) / "bin/infermeter"
REPETITIONS = 3
SIDES = (512, 1024)
TRIES = 100
processor = str(min(os.sched_getaffinity(0)))


def figure(what, unit, ours, peer, target):
    print(json.dumps({"what": what, "unit": unit, "ours": ours, "peer": peer, "target": target}), flush=True)


def quiet(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def peaks():
    """Of one thread."""
    return json.loads(quiet(infermeter, "doctor", "--peaks", "--format", "json"))["peaks"][0]


# Each a program of its own, as runtimes spin beside one another: prints the operations per second of its best product.
PRODUCT = """
import time
def best(product, operations, tries):
    fastest = float("inf")
    for _ in range(tries):
        begin = time.perf_counter()
        product()
        fastest = min(fastest, time.perf_counter() - begin)
    print(operations / fastest)
"""
PYTORCH = PRODUCT + """
import sys, torch
side, tries, dtype = int(sys.argv[1]), int(sys.argv[2]), getattr(torch, sys.argv[3])
torch.set_num_threads(1)
torch.manual_seed(1)
a, b = torch.rand(side, side).to(dtype), torch.rand(side, side).to(dtype)
out = torch.empty(side, side, dtype=dtype)
with torch.inference_mode():
    best(lambda: torch.mm(a, b, out=out), 2 * side**3, tries)
"""
MODEL = """
import numpy, onnx.helper, onnx.numpy_helper, sys
side, tries, dtype = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
random = numpy.random.default_rng(1)
a, b = (random.random((side, side), numpy.float32) for _ in range(2))
graph = onnx.helper.make_graph(
    [onnx.helper.make_node("MatMul", ["a", "b"], ["c"])], "product",
    [onnx.helper.make_tensor_value_info("a", 1, [side, side])],
    [onnx.helper.make_tensor_value_info("c", 1, [side, side])], [onnx.numpy_helper.from_array(b, "b")])
model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
"""
ONNXRUNTIME = PRODUCT + MODEL + """
import onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
best(lambda: session.run(None, {"a": a}), 2 * side**3, tries)
"""
OPENVINO = PRODUCT + MODEL + """
import openvino
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {
    "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1,
    "INFERENCE_PRECISION_HINT": {"float32": "f32", "bfloat16": "bf16"}[dtype]})
request = compiled.create_infer_request()
request.set_tensor("a", openvino.Tensor(a, shared_memory=True))
best(request.infer, 2 * side**3, tries)
"""
PRODUCTS = {"float32": {"PyTorch": PYTORCH, "ONNX Runtime": ONNXRUNTIME, "OpenVINO": OPENVINO},
            "bfloat16": {"PyTorch": PYTORCH, "OpenVINO": OPENVINO}}


def product(text, dtype):
    """Operations per second; None where the runtime is not installed or has no such product."""
    found = []
    for side in SIDES:
        done = subprocess.run(["taskset", "-c", processor, sys.executable, "-c", text, str(side), str(TRIES), dtype],
                              capture_output=True, text=True)
        found += [float(done.stdout.split()[-1])] if done.returncode == 0 else []
    return max(found, default=None)


# likwid-bench's kernels, less the instruction set; they get the working sets that measure_peaks takes.
LIKWID = {"L1": "load", "L2": "load", "L3": "load", "DRAM": "load", "DRAM triad": "stream_sp_mem"}


def cache_bytes(level):
    for index in pathlib.Path(f"/sys/devices/system/cpu/cpu{processor}/cache").glob("index*"):
        text = {name: (index / name).read_text().strip() for name in ("level", "type", "size")}
        if text["level"] == level[1:] and text["type"] != "Instruction":
            return int(text["size"].rstrip("K")) * 1024
    return None


def working_set(level):
    """In kB, as ours."""
    if level in ("L1", "L2"):
        return cache_bytes(level) // 2 // 1000
    if level == "L3":
        return min(4 * cache_bytes("L2"), cache_bytes("L3") // 2) // 1000
    return min(4 * (cache_bytes("L3") or cache_bytes("L2")), 1 << 30) // 1000


def likwid(test, kilobytes, field):
    """Best of several short runs, per second."""
    size = f"S0:{kilobytes}kB:1"
    rounds = max(1, 400_000_000 // (kilobytes * 1000))
    best = 0.0
    for _ in range(12):
        done = subprocess.run(["taskset", "-c", processor, "likwid-bench", "-t", test, "-w", size, "-i", str(rounds)],
                              capture_output=True, text=True)
        found = re.search(rf"{field}:\s*([\d.]+)", done.stdout)
        if found:
            best = max(best, float(found[1]) * 1e6)
    return best


def likwid_suffix():
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return "_avx512" if "avx512f" in flags else "_avx" if " avx " in flags else "_sse"


def main():
    ours = [peaks() for _ in range(REPETITIONS)]
    figure("peaks of one thread, time to measure; peer: none", "s", [one["seconds"] for one in ours], [], "at most 4 s")
    for dtype, runtimes in PRODUCTS.items():
        values = [peak["ops_per_s"] for one in ours for peak in one["compute"] if peak["dtype"] == dtype]
        found = {name: product(text, dtype) for name, text in runtimes.items()}
        found = {name: value for name, value in found.items() if value}
        if not values or not found:
            continue
        reported = ", ".join(f"{name} {value * 1e-9:.4g}" for name, value in found.items())
        figure(f"{dtype} at best; peer: the best product ({reported})", "Gop/s", values,
               [max(found.values())], "at least 1x; repeats within 1 %")
    if not shutil.which("likwid-bench"):
        return
    suffix = likwid_suffix()
    for level, test in LIKWID.items():
        values = [peak["bytes_per_s"] for one in ours for peak in one["bandwidth"] if peak["level"] == level]
        if values:
            name = test + suffix
            figure(f"bandwidth of {level} at best; peer: likwid-bench {name}", "GB/s", values,
                   [likwid(name, working_set(level), "MByte/s")], "0.97 … 1.03x")
    values = [peak["ops_per_s"] for one in ours for peak in one["compute"] if peak["dtype"] == "float32"]
    name = f"peakflops_sp{suffix}_fma" if suffix != "_sse" else "peakflops_sp_sse"
    # A lower bound: on a processor with two FMA units it was seen to show half of what is there.
    figure(f"float32 at best; peer: likwid-bench {name}", "Gop/s", values,
           [likwid(name, working_set("L1"), "MFlops/s")], "at least 0.97x")


if __name__ == "__main__":
    main()
