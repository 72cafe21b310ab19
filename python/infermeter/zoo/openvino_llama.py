"""The zoo's language models in OpenVINO's form: a graph with state, as its own exporter makes it. Keys and values of earlier
tokens are variables of the graph, which the runtime keeps, and which GenAI replaces by its paged attention."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino
from openvino import opset13 as op
from openvino.op.util import Variable, VariableInfo

from infermeter.zoo.llama import Sizes, read_sizes, read_weights


def graph(source: Path) -> openvino.Model:
    return Builder(read_sizes(source), read_weights(source)).model()


def write(source: Path, target: Path) -> None:
    """openvino_model.xml and .bin into `target`, in float32."""
    openvino.save_model(graph(source), str(target / "openvino_model.xml"), compress_to_fp16=False)


def _integers(values: Any) -> Any:
    return op.constant(np.array(values, np.int64))


def _number(value: float) -> Any:
    return op.constant(np.float32(value))


class Builder:
    def __init__(self, sizes: Sizes, weights: dict[str, np.ndarray]) -> None:
        self._sizes, self._weights = sizes, weights
        self._ids = self._input("input_ids", [-1, -1], np.int64)
        self._mask = self._input("attention_mask", [-1, -1], np.int64)
        self._positions = self._input("position_ids", [-1, -1], np.int64)
        self._beams = self._input("beam_idx", [-1], np.int32)
        self._batch = op.gather(op.shape_of(self._ids, "i64"), _integers([0]), _integers(0))
        self._total = op.gather(op.shape_of(self._mask, "i64"), _integers([1]), _integers(0))  # with earlier tokens
        self._assigned: list[Any] = []
        self._cos, self._sin = self._rotations()
        self._bias = self._attention_bias()

    @staticmethod
    def _input(name: str, shape: list[int], dtype: Any) -> Any:
        made = op.parameter(shape, dtype, name=name)
        made.output(0).get_tensor().set_names({name})
        return made

    def _weight(self, name: str) -> Any:
        return op.constant(np.ascontiguousarray(self._weights[name]))

    def _linear(self, x: Any, name: str) -> Any:
        return op.matmul(x, self._weight(f"{name}.weight"), False, True)

    def _norm(self, x: Any, name: str) -> Any:
        mean = op.reduce_mean(op.power(x, _number(2)), _integers([-1]), True)
        scale = op.divide(_number(1), op.sqrt(op.add(mean, _number(self._sizes.epsilon))))
        return op.multiply(op.multiply(x, scale), self._weight(f"{name}.weight"))

    def _rotations(self) -> tuple[Any, Any]:
        size = self._sizes.head_size
        frequencies = self._sizes.rope_theta ** (-np.arange(0, size, 2) / size)
        positions = op.unsqueeze(op.convert(self._positions, "f32"), _integers(2))
        half = op.matmul(positions, op.constant(frequencies.astype(np.float32)[None, None, :]), False, False)
        angles = op.unsqueeze(op.concat([half, half], -1), _integers(1))  # batch x 1 x tokens x head
        return op.cos(angles), op.sin(angles)

    def _rotated(self, x: Any) -> Any:
        half = self._sizes.head_size // 2

        def part(begin: int, end: int) -> Any:
            return op.slice(x, _integers([begin]), _integers([end]), _integers([1]), _integers([3]))

        turned = op.concat([op.multiply(part(half, 2 * half), _number(-1)), part(0, half)], -1)
        return op.add(op.multiply(x, self._cos), op.multiply(turned, self._sin))

    def _attention_bias(self) -> Any:
        """0 where a token may look, -inf elsewhere: batch x 1 x tokens x all tokens."""
        keys = op.range(_integers(0), op.squeeze(self._total, _integers(0)), _integers(1), "i64")
        earlier = op.less_equal(op.unsqueeze(keys, _integers([0, 1, 2])), op.unsqueeze(self._positions, _integers([1, 3])))
        there = op.convert(op.unsqueeze(self._mask, _integers([1, 2])), "boolean")
        return op.select(op.logical_and(earlier, there), _number(0), _number(-np.inf))

    def _heads(self, x: Any, count: int) -> Any:
        split = op.reshape(x, _integers([0, 0, count, self._sizes.head_size]), True)
        return op.transpose(split, _integers([0, 2, 1, 3]))

    def _kept(self, name: str, new: Any) -> Any:
        """Behind those of earlier tokens, which a variable holds."""
        sizes = self._sizes
        info = VariableInfo()
        info.data_shape = openvino.PartialShape([-1, sizes.key_value_heads, -1, sizes.head_size])
        info.data_type = openvino.Type.f32
        info.variable_id = name
        variable = Variable(info)
        empty = op.concat([self._batch, _integers([sizes.key_value_heads]), _integers([0]), _integers([sizes.head_size])], 0)
        before = op.gather(op.read_value(op.broadcast(_number(0), empty), variable), self._beams, _integers(0))
        whole = op.concat([before, new], 2)
        self._assigned.append(op.assign(whole, variable))
        return whole

    def _for_all_heads(self, x: Any) -> Any:
        sizes = self._sizes
        repeats = sizes.heads // sizes.key_value_heads
        shape = op.concat([self._batch, _integers([sizes.key_value_heads, repeats]), self._total, _integers([sizes.head_size])], 0)
        repeated = op.broadcast(op.unsqueeze(x, _integers(2)), shape, broadcast_spec="BIDIRECTIONAL")
        return op.reshape(repeated, _integers([0, sizes.heads, -1, sizes.head_size]), True)

    def _attention(self, x: Any, index: int) -> Any:
        sizes, layer = self._sizes, f"model.layers.{index}.self_attn"
        query = self._rotated(self._heads(self._linear(x, f"{layer}.q_proj"), sizes.heads))
        key = self._rotated(self._heads(self._linear(x, f"{layer}.k_proj"), sizes.key_value_heads))
        value = self._heads(self._linear(x, f"{layer}.v_proj"), sizes.key_value_heads)
        key = self._kept(f"past_key_values.{index}.keypresent.{index}.key", key)
        value = self._kept(f"past_key_values.{index}.valuepresent.{index}.value", value)
        seen = op.scaled_dot_product_attention(query, self._for_all_heads(key), self._for_all_heads(value), self._bias)
        joined = op.reshape(op.transpose(seen, _integers([0, 2, 1, 3])), _integers([0, 0, sizes.heads * sizes.head_size]), True)
        return self._linear(joined, f"{layer}.o_proj")

    def _feed_forward(self, x: Any, index: int) -> Any:
        layer = f"model.layers.{index}.mlp"
        gate = op.swish(self._linear(x, f"{layer}.gate_proj"))
        return self._linear(op.multiply(gate, self._linear(x, f"{layer}.up_proj")), f"{layer}.down_proj")

    def model(self) -> Any:
        x = op.gather(self._weight("model.embed_tokens.weight"), self._ids, _integers(0))
        for index in range(self._sizes.layers):
            layer = f"model.layers.{index}"
            x = op.add(x, self._attention(self._norm(x, f"{layer}.input_layernorm"), index))
            x = op.add(x, self._feed_forward(self._norm(x, f"{layer}.post_attention_layernorm"), index))
        logits = self._linear(self._norm(x, "model.norm"), "lm_head")
        logits.output(0).get_tensor().set_names({"logits"})
        inputs = [self._ids, self._mask, self._positions, self._beams]
        return openvino.Model([op.result(logits)], self._assigned, inputs, "llama")
