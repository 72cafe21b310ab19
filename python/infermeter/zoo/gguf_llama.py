"""The zoo's language models as GGUF, as llama.cpp reads them."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import numpy as np

from infermeter.zoo.llama import Sizes, read_sizes, read_weights

_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write(source: Path, file: Path, name: str) -> None:
    """In float32."""
    sizes = read_sizes(source)
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_name(name)
    _add_sizes(writer, sizes)
    _add_tokenizer(writer, sizes, source / "tokenizer.json")
    for weight, array in read_weights(source).items():
        of = _name_of(weight)
        heads = {"attn_q": sizes.heads, "attn_k": sizes.key_value_heads}.get(of.rpartition(".")[2])
        writer.add_tensor(f"{of}.weight", array if heads is None else _pairs_beside(array, heads))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _name_of(weight: str) -> str:
    name = weight.removesuffix(".weight")
    if not name.startswith("model.layers."):
        return _NAMES[name]
    index, _, part = name.removeprefix("model.layers.").partition(".")
    return f"blk.{index}.{_NAMES[part]}"


def _pairs_beside(array: np.ndarray, heads: int) -> np.ndarray:
    """Rotary positions turn pairs of rows: the i-th of a head's first and second half as the weights are, two neighbours in
    llama.cpp."""
    rows, columns = array.shape
    halves = array.reshape(heads, 2, rows // heads // 2, columns)
    return np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(rows, columns)


def _add_sizes(writer: gguf.GGUFWriter, sizes: Sizes) -> None:
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(sizes.context)
    writer.add_embedding_length(sizes.hidden)
    writer.add_block_count(sizes.layers)
    writer.add_feed_forward_length(sizes.intermediate)
    writer.add_head_count(sizes.heads)
    writer.add_head_count_kv(sizes.key_value_heads)
    writer.add_key_length(sizes.head_size)
    writer.add_value_length(sizes.head_size)
    writer.add_rope_dimension_count(sizes.head_size)
    writer.add_rope_freq_base(sizes.rope_theta)
    writer.add_layer_norm_rms_eps(sizes.epsilon)
    writer.add_vocab_size(sizes.vocabulary)


def _add_tokenizer(writer: gguf.GGUFWriter, sizes: Sizes, file: Path) -> None:
    tokenizer = json.loads(file.read_text())
    words = {number: word for word, number in tokenizer["model"]["vocab"].items()}
    words |= {added["id"]: added["content"] for added in tokenizer["added_tokens"]}
    special = {added["id"] for added in tokenizer["added_tokens"]}
    kinds = [gguf.TokenType.CONTROL if number in special else gguf.TokenType.NORMAL for number in range(sizes.vocabulary)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([words[number] for number in range(sizes.vocabulary)])
    writer.add_token_types([int(kind) for kind in kinds])
    # llama.cpp demands merges, and a tokenizer of bytes has none: two bytes 255, which no UTF-8 has.
    writer.add_token_merges(["ÿ ÿ"])
    writer.add_bos_token_id(sizes.begin)
    writer.add_eos_token_id(sizes.end)
    writer.add_add_bos_token(False)
