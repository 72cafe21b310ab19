"""The zoo's language models: sizes and weights, read from their folder without a framework."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sizes:
    hidden: int
    intermediate: int
    layers: int
    heads: int
    key_value_heads: int
    head_size: int
    vocabulary: int
    context: int
    begin: int
    end: int
    epsilon: float
    rope_theta: float


def read_sizes(folder: Path) -> Sizes:
    config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    return Sizes(
        hidden=config["hidden_size"],
        intermediate=config["intermediate_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        key_value_heads=config["num_key_value_heads"],
        head_size=config["head_dim"],
        vocabulary=config["vocab_size"],
        context=config["max_position_embeddings"],
        begin=config["bos_token_id"],
        end=config["eos_token_id"],
        epsilon=config["rms_norm_eps"],
        rope_theta=config["rope_theta"],
    )


def read_weights(folder: Path) -> dict[str, np.ndarray]:
    """By the names of transformers' LlamaForCausalLM; read-only, from the file as it is mapped."""
    data = np.memmap(folder / "model.safetensors", np.uint8, "r")
    begin = 8 + int(data[:8].view("<u8")[0])
    head: dict[str, Any] = json.loads(data[8:begin].tobytes())
    weights = {}
    for name, tensor in head.items():
        if name != "__metadata__":
            first, last = tensor["data_offsets"]
            weights[name] = data[begin + first : begin + last].view("<f4").reshape(tensor["shape"])
    return weights
