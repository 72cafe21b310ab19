"""The zoo in JAX: Flax NNX modules. They take images as [batch, channel, height, width], as every framework does here,
and compute channels-last, as Flax does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

Weights = Mapping[str, np.ndarray]


def build(name: str, weights: Weights) -> nnx.Module:
    """The model with exactly these weights, ready for inference."""
    make, renamed = _ARCHITECTURES[name]
    # Only the shapes: nothing is drawn at random only to be thrown away.
    graph, state = nnx.split(nnx.eval_shape(lambda: make(nnx.Rngs(0))))
    arrays = renamed(weights)
    filled = [(path, leaf.replace(_take(arrays, path, leaf.shape))) for path, leaf in nnx.to_flat_state(state)]
    if arrays:
        raise ValueError(f"{name} has no place for the weights {', '.join(sorted(arrays))}")
    return nnx.merge(graph, nnx.from_flat_state(filled))


def names() -> tuple[str, ...]:
    return tuple(_ARCHITECTURES)


# Flax's names of what torch calls a weight, or a running statistic.
_LEAVES = {"kernel": "weight", "scale": "weight", "mean": "running_mean", "var": "running_var"}


def _take(arrays: dict[str, np.ndarray], path: tuple[str | int, ...], shape: tuple[int, ...]) -> jax.Array:
    *module, leaf = (str(part) for part in path)
    array = arrays.pop(".".join([*module, _LEAVES.get(leaf, leaf)]))
    if leaf == "kernel":
        array = array.transpose(2, 3, 1, 0) if array.ndim == 4 else array.T
    return jnp.asarray(array.reshape(shape))


class Mlp(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.fc1 = nnx.Linear(16, 64, rngs=rngs)
        self.fc2 = nnx.Linear(64, 32, rngs=rngs)
        self.fc3 = nnx.Linear(32, 10, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.fc3(nnx.relu(self.fc2(nnx.relu(self.fc1(x)))))


def _convolution(inputs: int, outputs: int, kernel: int, stride: int, rngs: nnx.Rngs) -> nnx.Conv:
    # Written out, because "SAME" pads a stride of 2 on one side only.
    padding = [(kernel // 2, kernel // 2)] * 2
    return nnx.Conv(inputs, outputs, (kernel, kernel), stride, padding=padding, use_bias=False, rngs=rngs)


_normalisation = partial(nnx.BatchNorm, use_running_average=True, epsilon=1e-5)


class Bottleneck(nnx.Module):
    def __init__(self, inputs: int, width: int, stride: int, rngs: nnx.Rngs) -> None:
        outputs = 4 * width
        self.conv1 = _convolution(inputs, width, 1, 1, rngs)
        self.bn1 = _normalisation(width, rngs=rngs)
        self.conv2 = _convolution(width, width, 3, stride, rngs)
        self.bn2 = _normalisation(width, rngs=rngs)
        self.conv3 = _convolution(width, outputs, 1, 1, rngs)
        self.bn3 = _normalisation(outputs, rngs=rngs)
        past = [_convolution(inputs, outputs, 1, stride, rngs), _normalisation(outputs, rngs=rngs)]
        self.downsample = nnx.data(past if inputs != outputs else [])

    def __call__(self, x: jax.Array) -> jax.Array:
        past = x
        for layer in self.downsample:
            past = layer(past)
        x = nnx.relu(self.bn1(self.conv1(x)))
        x = nnx.relu(self.bn2(self.conv2(x)))
        return nnx.relu(self.bn3(self.conv3(x)) + past)


class ResNet50(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv1 = _convolution(3, 64, 7, 2, rngs)
        self.bn1 = _normalisation(64, rngs=rngs)
        self.layer1 = self._layer(64, 64, 3, 1, rngs)
        self.layer2 = self._layer(256, 128, 4, 2, rngs)
        self.layer3 = self._layer(512, 256, 6, 2, rngs)
        self.layer4 = self._layer(1024, 512, 3, 2, rngs)
        self.fc = nnx.Linear(2048, 1000, rngs=rngs)

    @staticmethod
    def _layer(inputs: int, width: int, blocks: int, stride: int, rngs: nnx.Rngs) -> list[Bottleneck]:
        first = Bottleneck(inputs, width, stride, rngs)
        stage: list[Bottleneck] = nnx.data([first, *(Bottleneck(4 * width, width, 1, rngs) for _ in range(blocks - 1))])
        return stage

    def __call__(self, x: jax.Array) -> jax.Array:
        x = x.transpose(0, 2, 3, 1)
        x = nnx.relu(self.bn1(self.conv1(x)))
        x = nnx.max_pool(x, (3, 3), strides=(2, 2), padding=((1, 1), (1, 1)))
        for block in (*self.layer1, *self.layer2, *self.layer3, *self.layer4):
            x = block(x)
        return self.fc(x.mean(axis=(1, 2)))


_layer_norm = partial(nnx.LayerNorm, 768, epsilon=1e-6)


class EncoderLayer(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.ln_1 = _layer_norm(rngs=rngs)
        self.self_attention = nnx.MultiHeadAttention(12, 768, decode=False, deterministic=True, rngs=rngs)
        self.ln_2 = _layer_norm(rngs=rngs)
        self.mlp_in = nnx.Linear(768, 3072, rngs=rngs)
        self.mlp_out = nnx.Linear(3072, 768, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = x + self.self_attention(self.ln_1(x))
        # By erf: Flax's default is the approximation by tanh.
        return x + self.mlp_out(nnx.gelu(self.mlp_in(self.ln_2(x)), approximate=False))


class VitB16(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv_proj = nnx.Conv(3, 768, (16, 16), 16, padding="VALID", rngs=rngs)
        self.class_token = nnx.Param(jnp.zeros((1, 1, 768)))
        self.pos_embedding = nnx.Param(jnp.zeros((1, 197, 768)))
        self.layers = nnx.data([EncoderLayer(rngs) for _ in range(12)])
        self.ln = _layer_norm(rngs=rngs)
        self.head = nnx.Linear(768, 1000, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        batch = x.shape[0]
        x = self.conv_proj(x.transpose(0, 2, 3, 1)).reshape(batch, 196, 768)
        token = jnp.broadcast_to(self.class_token[...], (batch, 1, 768))
        x = jnp.concatenate([token, x], axis=1) + self.pos_embedding[...]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.ln(x)[:, 0])


def _vit_names(weights: Weights) -> dict[str, np.ndarray]:
    """Torchvision's names as the modules above nest; attention's three matrices one by one."""
    renamed = {}
    for name, array in weights.items():
        name = name.removeprefix("encoder.").removeprefix("heads.").replace("layers.encoder_layer_", "layers.")
        name = name.replace("mlp.0", "mlp_in").replace("mlp.3", "mlp_out").replace("out_proj", "out")
        if "in_proj_" in name:
            for part, rows in zip(("query", "key", "value"), np.split(array, 3), strict=True):
                renamed[name.replace("in_proj_", f"{part}.")] = rows
        else:
            renamed[name] = array
    return renamed


_ARCHITECTURES: dict[str, tuple[Callable[[nnx.Rngs], nnx.Module], Callable[[Weights], dict[str, np.ndarray]]]] = {
    "mlp": (Mlp, dict),
    "resnet50": (ResNet50, dict),
    "vit_b_16": (VitB16, _vit_names),
}
