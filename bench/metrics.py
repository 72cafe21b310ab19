"""PSNR and SSIM of infermeter.metrics and of scikit-image on the same float32 arrays, by turns, in one thread each.

usage: metrics.py [memory ours|peer 2|3]
Prints a line of JSON per figure: seconds of the processor that each repetition took; bytes beside the two arrays, each in a process of its own.
"""
import json
import pathlib
import subprocess
import sys
import time

import numpy

SHAPES = {2: (4096, 4096), 3: (256, 256, 256)}
REPETITIONS = 5


def arrays(dimensions):
    rng = numpy.random.default_rng(dimensions)
    reference = rng.random(SHAPES[dimensions], dtype=numpy.float32)
    return reference, reference + numpy.float32(0.1) * rng.random(reference.shape, dtype=numpy.float32)


def similarities(dimensions):
    """Ours and scikit-image's, with the same window and range."""
    from skimage.metrics import structural_similarity

    from infermeter import metrics

    return (lambda r, c: metrics.structural_similarity(r, c, dimensions=dimensions, data_range=1.0),
            lambda r, c: structural_similarity(r, c, data_range=1.0))


def peak_ratios():
    from skimage.metrics import peak_signal_noise_ratio

    from infermeter import metrics

    return (lambda r, c: metrics.difference(r, c, data_range=1.0).psnr_db,
            lambda r, c: peak_signal_noise_ratio(r, c, data_range=1.0))


def by_turns(what, target, functions, pair, agree):
    seconds, values = ([], []), [None, None]
    for _ in range(REPETITIONS):
        for side, function in enumerate(functions):
            begin = time.process_time()
            values[side] = float(function(*pair))
            seconds[side].append(time.process_time() - begin)
    if not abs(values[0] - values[1]) <= agree:
        sys.exit(f"{what}: {values[0]!r} is not scikit-image's {values[1]!r}")
    what += f" ({values[0]:.7g} and {values[1]:.7g})"
    print(json.dumps({"what": what, "unit": "ms", "ours": seconds[0], "peer": seconds[1], "target": target}), flush=True)


def status_bytes(name):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])


def print_memory(side, dimensions):
    function = similarities(dimensions)[side == "peer"]
    small = tuple(axis[:16] if dimensions == 2 else axis[:16, :16, :16] for axis in arrays(dimensions))
    function(*small)  # what it loads is not what it needs
    del small
    pair = arrays(dimensions)
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak is that of now
    before = status_bytes("VmRSS")
    function(*pair)
    print(max(0, status_bytes("VmHWM") - before))


def memory(dimensions):
    used = []
    for side in ("ours", "peer"):
        command = [sys.executable, __file__, "memory", side, str(dimensions)]
        used.append([int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)])
    slice_mb = 4e-6 * numpy.prod(SHAPES[dimensions][1:])
    print(json.dumps({"what": f"memory of SSIM in {dimensions}-D beside the arrays, a slice being {slice_mb:.2g} MB",
                      "unit": "MB", "ours": used[0], "peer": used[1], "target": "a few slices"}), flush=True)


def main():
    if sys.argv[1:2] == ["memory"]:
        return print_memory(sys.argv[2], int(sys.argv[3]))
    for dimensions, name in ((2, "4096 x 4096"), (3, "256 x 256 x 256")):
        pair = arrays(dimensions)
        if dimensions == 2:
            by_turns(f"PSNR of {name} float32", "at most 1/5", peak_ratios(), pair, 1e-3)
        by_turns(f"SSIM of {name} float32, uniform window of 7", "at most 1/15", similarities(dimensions), pair, 1e-4)
        memory(dimensions)


if __name__ == "__main__":
    main()
