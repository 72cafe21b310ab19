"""The imaging workload in NumPy and double precision, written from its definition (docs/imaging.md) and from nothing
else: the standard that the plug-in is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft

UNITARY = {"norm": "ortho"}


@dataclass(frozen=True)
class Workload:
    image_size: int = 256
    object_size: int = 64
    radius: int = 10
    samples: int = 20
    epochs: int = 5
    detector: int = 256
    r_max: float | None = None
    photons: float = np.inf
    read_noise: float = 0.0
    noise: str = "fresh"
    seed: int = 7
    order: str = "sweep"
    prior: str = "nonneg"
    alpha: float = 1.0
    line_length: int = 1

    @property
    def reach(self) -> float:
        return 0.6 * self.radius * np.sqrt(self.samples) if self.r_max is None else self.r_max


def positions(w: Workload) -> np.ndarray:
    k = np.arange(w.samples)
    angle, r = k * np.pi * (3 - np.sqrt(5)), w.reach * np.sqrt(k / w.samples)
    return np.stack([np.rint(r * np.sin(angle)), np.rint(r * np.cos(angle))], axis=1).astype(int)


def aperture(w: Workload, centre: np.ndarray, shift: int = 0) -> np.ndarray:
    """M: true where |q - c|^2 <= R^2, on the grid whose centre is index 0."""
    axis = np.arange(w.image_size)

    def distance(c: int) -> np.ndarray:
        d = (axis - c) % w.image_size
        return np.minimum(d, w.image_size - d)

    return distance(centre[0])[:, None] ** 2 + distance(centre[1] + shift)[None, :] ** 2 <= w.radius**2


def embedded(w: Workload, amplitudes: np.ndarray) -> np.ndarray:
    """The object around pixel 0 of the grid."""
    field = np.zeros((w.image_size, w.image_size))
    n = w.object_size
    field[:n, :n] = amplitudes
    return np.roll(field, (-(n // 2), -(n // 2)), axis=(0, 1))


def cropped(w: Workload, field: np.ndarray) -> np.ndarray:
    n = w.object_size
    return np.roll(field, (n // 2, n // 2), axis=(0, 1))[:n, :n]


def seen(w: Workload, spectrum: np.ndarray, centre: np.ndarray, shift: int) -> np.ndarray:
    """F^-1(M spectrum), each N/D-th pixel; times a phase that is linear in the place, so that the aperture is centred."""
    window = np.roll(np.where(aperture(w, centre, shift), spectrum, 0), tuple(-centre), axis=(0, 1))
    step = w.image_size // w.detector
    return fft.ifft2(window, **UNITARY)[::step, ::step]


def from_detector(w: Workload, field: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """The spectrum that a field on the detector has, moved to where the aperture stands."""
    half = w.detector // 2
    small = np.roll(fft.fft2(field, **UNITARY) * (w.image_size / w.detector), (half, half), axis=(0, 1))
    whole = np.zeros((w.image_size, w.image_size), complex)
    whole[: w.detector, : w.detector] = small
    return np.roll(whole, (centre[0] - half, centre[1] - half), axis=(0, 1))


def _mixed64(x: int) -> int:
    mask = (1 << 64) - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def _mixed32(x: np.ndarray) -> np.ndarray:
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def gaussian(w: Workload, exposure: int, position: int) -> np.ndarray:
    """Eight bytes of two hashes, added up: a function of the seed, the exposure, the position and the pixel."""
    mask = (1 << 64) - 1
    key = _mixed64(_mixed64((w.seed + _mixed64(exposure)) & mask) ^ _mixed64(~position & mask))
    first, second = np.uint32(key & 0xFFFFFFFF), np.uint32(key >> 32)
    x = _mixed32(np.arange(w.detector**2, dtype=np.uint32) * np.uint32(0x9E3779B9) + first)
    total = np.zeros(x.shape)
    for word in (_mixed32(x ^ second), _mixed32(x + np.uint32(0x85EBCA6B))):
        for shift in (0, 8, 16, 24):
            total += (word >> np.uint32(shift)) & np.uint32(0xFF)
    return ((total - 8 * 127.5) / np.sqrt(8 * (256**2 - 1) / 12)).reshape(w.detector, w.detector)


def measured(w: Workload, spectrum: np.ndarray, centre: np.ndarray, exposure: int, position: int) -> np.ndarray:
    shifts = range(-(w.line_length // 2), w.line_length - w.line_length // 2)
    intensity = np.mean([np.abs(seen(w, spectrum, centre, shift)) ** 2 for shift in shifts], axis=0)
    brightest = intensity.max()
    deviation = np.sqrt(intensity * brightest / w.photons + (w.read_noise * brightest) ** 2)
    noise = gaussian(w, exposure if w.noise == "fresh" else 0, position) if deviation.any() else 0
    return np.maximum(0, intensity + deviation * noise)


def reconstruct(w: Workload, amplitudes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The object's modulus, and the error of each epoch."""
    spectrum = fft.fft2(embedded(w, amplitudes), **UNITARY)
    support = embedded(w, np.ones((w.object_size, w.object_size))) > 0
    centres = positions(w)
    shifts = range(-(w.line_length // 2), w.line_length - w.line_length // 2)
    estimate = np.zeros_like(spectrum)
    errors, misfit, brightness = [], 0.0, 0.0
    for visit in range(w.samples * w.epochs):
        sweeps = w.order == "sweep"
        k, exposure = (visit % w.samples, visit // w.samples) if sweeps else (visit // w.epochs, visit % w.epochs)
        centre = centres[k]
        y = measured(w, spectrum, centre, exposure, k)
        if visit == 0:
            eps = 1e-12 * y.mean()
            mask = aperture(w, centre)
            estimate[mask] = from_detector(w, np.sqrt(y), centre)[mask]
        fields = [seen(w, estimate, centre, shift) for shift in shifts]
        modulus = np.sqrt(np.mean([np.abs(f) ** 2 for f in fields], axis=0) + eps)
        misfit += float(((np.sqrt(y) - modulus) ** 2).sum())
        brightness += float(y.sum())
        for shift, field in zip(shifts, fields):
            mask = aperture(w, centre, shift)
            wanted = from_detector(w, field * np.sqrt(y) / modulus, centre)
            estimate[mask] += w.alpha / w.line_length * (wanted[mask] - estimate[mask])
        if (visit + 1) % w.samples:
            continue
        errors.append(np.sqrt(misfit / brightness))
        misfit = brightness = 0.0
        if w.prior != "none":
            field = np.where(support, fft.ifft2(estimate, **UNITARY), 0)
            estimate = fft.fft2(np.maximum(0, field.real) if w.prior == "nonneg" else field, **UNITARY)
    return cropped(w, np.abs(fft.ifft2(estimate, **UNITARY))), np.array(errors)


def low_pass(w: Workload, amplitudes: np.ndarray) -> np.ndarray:
    """What `detection=field` can know: the object, as the union of the apertures lets it through."""
    union = np.any([aperture(w, centre) for centre in positions(w)], axis=0)
    return cropped(w, np.abs(fft.ifft2(np.where(union, fft.fft2(embedded(w, amplitudes)), 0))))


def psnr(image: np.ndarray, truth: np.ndarray) -> float:
    return float(10 * np.log10(1 / np.mean((np.asarray(image, float) - truth) ** 2)))
