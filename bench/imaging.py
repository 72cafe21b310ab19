"""The imaging back end without caches, and the same mathematics in NumPy and SciPy, by turns, in one thread each; and how
much of the back end's time its transforms are.

usage: imaging.py [OPTION=VALUE...]    (default: preset=standard epochs=2; of the back end)
Prints a line of JSON per figure: seconds of the processor that each repetition took.
"""
import json
import pathlib
import sys
import tempfile
import time

import numpy as np
from scipy import fft

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/imaging"))
from imaging_plugin import Session

REPETITIONS = 5


class Peer:
    """As fast as NumPy and SciPy are: float32, no copies but those that they need, rows and columns of an aperture found once."""

    def __init__(self, truth, size, radius, samples, epochs, detector, photons=1e4):
        self.truth, self.size, self.radius, self.samples = truth, size, radius, samples
        self.epochs, self.detector, self.photons = epochs, detector, photons
        y, x = np.mgrid[-radius:radius + 1, -radius:radius + 1]
        inside = y * y + x * x <= radius * radius
        self.dy, self.dx = y[inside], x[inside]
        self.window_at = (self.dy % detector, self.dx % detector)
        k = np.arange(samples)
        angle, r = k * np.pi * (3 - np.sqrt(5)), 0.6 * radius * np.sqrt(samples) * np.sqrt(k / samples)
        self.centres = np.stack([np.rint(r * np.sin(angle)), np.rint(r * np.cos(angle))], axis=1).astype(int)
        self.half = truth.shape[0] // 2
        self.padded = np.zeros((size, size), np.complex64)
        self.support = np.zeros((size, size), np.float32)
        self.support[:truth.shape[0], :truth.shape[1]] = 1
        self.support = np.roll(self.support, (-self.half, -self.half), axis=(0, 1))
        self.padded[:truth.shape[0], :truth.shape[1]] = truth
        self.padded = np.roll(self.padded, (-self.half, -self.half), axis=(0, 1))

    def window(self, values):
        window = np.zeros((self.detector, self.detector), np.complex64)
        window[self.window_at] = values
        return fft.ifft2(window, norm="forward", overwrite_x=True, workers=1)

    def run(self):
        rng = np.random.default_rng(7)
        to_grid = np.float32(self.size / self.detector**2)
        estimate = np.zeros((self.size, self.size), np.complex64)
        per_side = np.float32(1 / self.size)
        for visit in range(self.samples * self.epochs):
            centre = self.centres[visit % self.samples]
            at = ((centre[0] + self.dy) % self.size, (centre[1] + self.dx) % self.size)
            spectrum = fft.fft2(self.padded, workers=1)
            field = self.window(spectrum[at] * (per_side * per_side))
            intensity = field.real**2 + field.imag**2
            noise = rng.standard_normal(intensity.shape, dtype=np.float32)
            noise *= np.sqrt(intensity * (intensity.max() / np.float32(self.photons)))
            y = np.maximum(0, intensity + noise)
            amplitude = np.sqrt(y)
            if visit == 0:
                eps = np.float32(1e-12 * y.mean())
                estimate[at] = fft.fft2(amplitude.astype(np.complex64), overwrite_x=True, workers=1)[self.window_at] * to_grid
            field = self.window(estimate[at] * per_side)
            field *= amplitude / np.sqrt(field.real**2 + field.imag**2 + eps)
            estimate[at] = fft.fft2(field, overwrite_x=True, workers=1)[self.window_at] * to_grid
            if (visit + 1) % self.samples == 0:
                known = fft.ifft2(estimate, overwrite_x=True, workers=1).real * self.support
                estimate = fft.fft2(np.maximum(0, known).astype(np.complex64), overwrite_x=True, workers=1)
        image = np.abs(fft.ifft2(estimate, norm="ortho", overwrite_x=True, workers=1))
        n = self.truth.shape[0]
        return np.roll(image, (self.half, self.half), axis=(0, 1))[:n, :n]


def psnr(image, truth):
    return 10 * np.log10(1 / np.mean((image.astype(float) - truth) ** 2))


def seconds_of(function):
    begin = time.process_time()
    result = function()
    return time.process_time() - begin, result


def tell(what, ours, peer, target, unit="ms"):
    print(json.dumps({"what": what, "unit": unit, "ours": ours, "peer": peer, "target": target}), flush=True)


def share_of_transforms(options, samples):
    """Seconds of a sample's inference, and of its transforms, in the same inference."""
    whole, transforms = [], []
    with tempfile.TemporaryDirectory() as folder:
        profiled = Session(profile_folder=folder, **options)
        profiled.run()
        for _ in range(REPETITIONS):
            profiled.profiled_run()
            reported = json.loads((pathlib.Path(folder) / "operators.json").read_text())
            times = dict(zip((op["name"] for op in reported["operators"]), reported["means"]["duration_ns"]))
            whole.append(sum(times.values()) * 1e-9 / samples)
            transforms.append(sum(time for name, time in times.items() if name.endswith("_fft")) * 1e-9 / samples)
    return whole, transforms


def main():
    options = dict(argument.split("=", 1) for argument in sys.argv[1:]) or {"preset": "standard", "epochs": "2"}
    options["caches"] = "none"
    ours = Session(**options)
    image, truth, error = (output[0] for output in ours.run())
    epochs = len(error)
    transforms = ours.counters["fft_count"]
    samples = round((transforms - 2 - 2 * epochs) / 4)
    positions = samples // epochs
    size, radius = (256, 10) if options.get("preset") == "small" else (512, 20)
    detector = int(options.get("detector", 128 if options.get("preset") == "lowres" else size))
    peer = Peer(truth, size, radius, positions, epochs, detector)
    seconds = ([], [])
    for _ in range(REPETITIONS):
        for side, function in enumerate((lambda: ours.run()[0][0], peer.run)):
            spent, got = seconds_of(function)
            seconds[side].append(spent / samples)
            if abs(psnr(got, truth) - psnr(image, truth)) > 0.5:
                sys.exit(f"{psnr(got, truth)} dB are not the {psnr(image, truth)} dB of the back end")
    what = f"imaging, a sample of {positions} on {size} x {size}, detector {detector}, no cache"
    tell(f"{what}; peer: NumPy and SciPy", *seconds, "at most 1/2.5")
    tell(f"{what}; peer: its transforms alone", *share_of_transforms(options, samples), "at most 1.3x")


main()
