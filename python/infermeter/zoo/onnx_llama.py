"""The zoo's language models as ONNX Runtime GenAI reads them: model.onnx with keys and values of earlier tokens as inputs and outputs,
attention and normalisation as operators of ONNX Runtime (com.microsoft), and genai_config.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper

from infermeter.zoo.llama import Sizes, read_sizes, read_weights

_MODEL = "model.onnx"


def write(source: Path, target: Path) -> None:
    """model.onnx and genai_config.json into `target`, in float32."""
    sizes = read_sizes(source)
    model = Builder(sizes, read_weights(source)).model()
    (target / _MODEL).write_bytes(model.SerializeToString())
    (target / "genai_config.json").write_text(json.dumps(_config(sizes), indent=1))


def _config(sizes: Sizes) -> dict[str, Any]:
    return {
        "model": {
            "type": "llama",
            "bos_token_id": sizes.begin,
            "eos_token_id": sizes.end,
            "pad_token_id": sizes.end,
            "vocab_size": sizes.vocabulary,
            "context_length": sizes.context,
            "decoder": {
                "session_options": {"provider_options": []},
                "filename": _MODEL,
                "head_size": sizes.head_size,
                "hidden_size": sizes.hidden,
                "num_attention_heads": sizes.heads,
                "num_key_value_heads": sizes.key_value_heads,
                "num_hidden_layers": sizes.layers,
                "inputs": {
                    "input_ids": "input_ids",
                    "attention_mask": "attention_mask",
                    "past_key_names": "past_key_values.%d.key",
                    "past_value_names": "past_key_values.%d.value",
                },
                "outputs": {
                    "logits": "logits",
                    "present_key_names": "present.%d.key",
                    "present_value_names": "present.%d.value",
                },
            },
        },
        "search": {"max_length": sizes.context, "do_sample": False, "num_beams": 1, "past_present_share_buffer": True},
    }


class Builder:
    def __init__(self, sizes: Sizes, weights: dict[str, np.ndarray]) -> None:
        self._sizes, self._weights = sizes, weights
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs = [self._port("input_ids", TensorProto.INT64, ["batch", "tokens"]),
                        self._port("attention_mask", TensorProto.INT64, ["batch", "total"])]
        self._outputs = [self._port("logits", TensorProto.FLOAT, ["batch", "tokens", sizes.vocabulary])]
        self._count_tokens()
        self._rotations()

    @staticmethod
    def _port(name: str, dtype: int, shape: list[int | str]) -> ValueInfoProto:
        return helper.make_tensor_value_info(name, dtype, shape)

    def _add(self, operator: str, inputs: list[str], outputs: list[str], domain: str = "", **attributes: Any) -> str:
        self._nodes.append(helper.make_node(operator, inputs, outputs, name=outputs[0] or outputs[-1], domain=domain, **attributes))
        return outputs[0]

    def _constant(self, name: str, array: np.ndarray) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _count_tokens(self) -> None:
        """What the attention needs to know: tokens so far less one, of each sequence, and of the longest."""
        first = self._constant("axis_1", np.array([1], np.int64))
        one = self._constant("one", np.array([1], np.int64))
        so_far = self._add("ReduceSum", ["attention_mask", first], ["so_far"], keepdims=0)
        self._add("Cast", [self._add("Sub", [so_far, one], ["before"])], ["seqlens_k"], to=TensorProto.INT32)
        shape = self._add("Shape", ["attention_mask"], ["mask_shape"])
        index = self._constant("index_1", np.array(1, np.int64))
        self._add("Cast", [self._add("Gather", [shape, index], ["total_i64"], axis=0)], ["total"], to=TensorProto.INT32)

    def _rotations(self) -> None:
        size = self._sizes.head_size
        frequencies = self._sizes.rope_theta ** (-np.arange(0, size, 2) / size)
        angles = np.outer(np.arange(self._sizes.context), frequencies)
        self._constant("cos_cache", np.cos(angles).astype(np.float32))
        self._constant("sin_cache", np.sin(angles).astype(np.float32))

    def _weight(self, name: str) -> str:
        return self._constant(f"{name}.weight", self._weights[f"{name}.weight"])

    def _linear(self, x: str, name: str) -> str:
        weight = self._constant(f"{name}.weight", self._weights[f"{name}.weight"].T)
        return self._add("MatMul", [x, weight], [name])

    def _added_and_normal(self, x: str, more: str, name: str) -> tuple[str, str]:
        """x + more, and that with a root mean square of 1, times the weights."""
        sum_ = f"{name}.sum"
        normal = self._add("SkipSimplifiedLayerNormalization", [x, more, self._weight(name)], [name, "", "", sum_],
                           domain="com.microsoft", epsilon=self._sizes.epsilon)
        return sum_, normal

    def _attention(self, x: str, index: int) -> str:
        sizes, layer, past = self._sizes, f"model.layers.{index}.self_attn", f"past_key_values.{index}"
        shape: list[int | str] = ["batch", sizes.key_value_heads, "past", sizes.head_size]
        now: list[int | str] = ["batch", sizes.key_value_heads, "total", sizes.head_size]
        for name in ("key", "value"):
            self._inputs.append(self._port(f"{past}.{name}", TensorProto.FLOAT, shape))
            self._outputs.append(self._port(f"present.{index}.{name}", TensorProto.FLOAT, now))
        query, key, value = (self._linear(x, f"{layer}.{name}_proj") for name in "qkv")
        seen = self._add(
            "GroupQueryAttention",
            [query, key, value, f"{past}.key", f"{past}.value", "seqlens_k", "total", "cos_cache", "sin_cache"],
            [f"{layer}.seen", f"present.{index}.key", f"present.{index}.value"],
            domain="com.microsoft", num_heads=sizes.heads, kv_num_heads=sizes.key_value_heads, do_rotary=1, rotary_interleaved=0,
        )
        return self._linear(seen, f"{layer}.o_proj")

    def _feed_forward(self, x: str, index: int) -> str:
        layer = f"model.layers.{index}.mlp"
        gate = self._linear(x, f"{layer}.gate_proj")
        swish = self._add("Mul", [gate, self._add("Sigmoid", [gate], [f"{layer}.sigmoid"])], [f"{layer}.swish"])
        return self._linear(self._add("Mul", [swish, self._linear(x, f"{layer}.up_proj")], [f"{layer}.gated"]), f"{layer}.down_proj")

    def model(self) -> ModelProto:
        x = self._add("Gather", [self._weight("model.embed_tokens"), "input_ids"], ["embedded"], axis=0)
        first = "model.layers.0.input_layernorm"
        normal = self._add("SimplifiedLayerNormalization", [x, self._weight(first)], [first], axis=-1, epsilon=self._sizes.epsilon,
                           stash_type=1)
        for index in range(self._sizes.layers):
            seen = self._attention(normal, index)
            x, normal = self._added_and_normal(x, seen, f"model.layers.{index}.post_attention_layernorm")
            fed = self._feed_forward(normal, index)
            last = index + 1 == self._sizes.layers
            x, normal = self._added_and_normal(x, fed, "model.norm" if last else f"model.layers.{index + 1}.input_layernorm")
        self._add("MatMul", [normal, self._constant("lm_head.weight", self._weights["lm_head.weight"].T)], ["logits"])
        graph = helper.make_graph(self._nodes, "llama", self._inputs, self._outputs, self._constants)
        versions = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=10, producer_name="infermeter")
