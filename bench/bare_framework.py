"""The peer: the least loop that runs ResNet-50 in a Python framework. Prints the median of its loop in seconds.

usage: bare_framework.py pytorch|jax|litert MODEL.onnx THREADS WARMUP ITERATIONS
Only the model's definition and its weights come from infermeter's package; framework, threads and loop are its own.
"""
from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from infermeter.zoo.weights import read_weights

NAME = "resnet50"
IMAGE = ((np.arange(3 * 224 * 224, dtype=np.uint32) * np.uint32(2654435761)) % 2001 / 1000 - 1).astype(np.float32)
IMAGE = IMAGE.reshape(1, 3, 224, 224)


def pytorch(model: str, threads: int) -> Callable[[], object]:
    import torch
    from infermeter.zoo.pytorch import build

    torch.set_num_threads(threads)
    module, image = build(NAME, read_weights(model)), torch.from_numpy(IMAGE)
    return torch.inference_mode()(lambda: module(image))


def jax(model: str, threads: int) -> Callable[[], object]:
    os.environ["PJRT_NPROC"] = str(threads)  # read when XLA starts its threads
    import jax
    from flax import nnx
    from infermeter.zoo.jax import build

    graph, state = nnx.split(build(NAME, read_weights(model)))
    apply, image = jax.jit(lambda state, image: nnx.merge(graph, state)(image)), jax.numpy.asarray(IMAGE)
    return lambda: apply(state, image).block_until_ready()


def litert(model: str, threads: int) -> Callable[[], object]:
    from ai_edge_litert.interpreter import Interpreter
    from infermeter.zoo.litert import write

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.tflite"
        write(NAME, read_weights(model), 1, file)
        interpreter = Interpreter(model_path=str(file), num_threads=threads)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], IMAGE)
    return interpreter.invoke


def median_s(run: Callable[[], object], warmup: int, iterations: int) -> float:
    for _ in range(warmup):
        run()
    seconds = []
    for _ in range(iterations):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def main() -> None:
    framework, model, *numbers = sys.argv[1:]
    threads, warmup, iterations = map(int, numbers)
    make = {"pytorch": pytorch, "jax": jax, "litert": litert}[framework]
    print(f"{median_s(make(model, threads), warmup, iterations):.9f}")


main()
