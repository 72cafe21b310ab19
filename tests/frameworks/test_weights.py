"""Language models with weights of fewer bits, by the runtimes' own tools."""

import json
import subprocess

import numpy as np
import pytest


@pytest.fixture
def variants(need, infermeter, environment_in, tmp_path):
    need("generation")
    environment = environment_in(tmp_path)

    def run(*arguments, code=0):
        done = subprocess.run([infermeter, "variants", *arguments, "--format", "json"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if code == 0 else done.stderr

    return run


QUICK = ("--threads", "1", "--processes", "2", "--iterations", "2", "--warmup", "1")


def test_weights_of_llama_cpp_are_smaller_and_foretell_texts_nearly_as_well(variants, tmp_path):
    """Against what gguf reads in the files, and SciPy's divergence of the logits that the runtime itself gives."""
    import gguf

    np.save(tmp_path / "texts.npy", np.random.default_rng(1).integers(0, 256, (4, 32), dtype=np.int64))
    kept = tmp_path / "kept"
    found = variants("tiny_llama@llama-cpp,output=logits", "--data", "texts.npy", "--labels", "next", "--save-path", kept, *QUICK)
    base, int8, int4 = found["variants"]
    assert [each["kind"] for each in found["variants"]] == ["float32", "int8", "int4"] and not any(each["failure"] for each in found["variants"])
    assert base["size_bytes"] > 3 * int8["size_bytes"] and int8["size_bytes"] > 1.4 * int4["size_bytes"]
    for variant, wanted in ((int8, "Q8_0"), (int4, "Q4_K")):
        reader = gguf.GGUFReader(kept / f"tiny_llama.{variant['kind']}" / "model.gguf")
        types = {tensor.tensor_type.name for tensor in reader.tensors if len(tensor.shape) == 2}
        assert wanted in types and "F32" not in types
        assert "cyllama" in variant["model"]["made"]
    assert 1e-9 < int8["texts"]["kl_divergence"] < int4["texts"]["kl_divergence"] < 1
    assert int4["texts"]["top1_agreement"] <= int8["texts"]["top1_agreement"] <= 1
    assert base["texts"]["kl_divergence"] is None and base["texts"]["perplexity"] > 100
    assert int8["texts"]["increase"] == pytest.approx(int8["texts"]["perplexity"] / base["texts"]["perplexity"] - 1, abs=1e-9)
    again = variants(f"{kept}/tiny_llama.int8/model.gguf@llama-cpp,prompt_tokens=4,output_tokens=2", "--precisions", "float32,int4", *QUICK)
    assert again["variants"][1]["failure"].endswith("the weights of model are Q8_0 already: give the file that it was made of")
    assert int8["texts"]["interval"]["low"] <= int8["texts"]["increase"] <= int8["texts"]["interval"]["high"]


def test_weights_for_openvino_genai_answer_token_by_token(need, variants):
    """The graph's constants of weights are bytes, and halves of them."""
    need("variants")
    found = variants("tiny_llama@openvino-genai,prompt_tokens=16,output_tokens=8", "--precisions", "float32,int4", *QUICK)
    base, int4 = found["variants"]
    assert int4["failure"] is None and base["size_bytes"] > 5 * int4["size_bytes"]
    assert int4["measurements"][0]["tpot_p50_s"]["value"] > 0 and "nncf" in int4["model"]["made"]


def test_weights_for_onnxruntime_genai_foretell_texts_nearly_as_well(need, variants, tmp_path):
    """Against the products that onnx reads in the files."""
    need("variants")
    import onnx

    np.save(tmp_path / "texts.npy", np.random.default_rng(1).integers(0, 256, (4, 32), dtype=np.int64))
    kept = tmp_path / "kept"
    found = variants("tiny_llama@onnxruntime-genai,output=logits", "--data", "texts.npy", "--labels", "next", "--save-path", kept, *QUICK)
    base, int8, int4 = found["variants"]
    assert not any(each["failure"] for each in found["variants"])
    assert base["size_bytes"] > 3 * int8["size_bytes"] and int8["size_bytes"] > 1.6 * int4["size_bytes"]
    for variant, bits in ((int8, 8), (int4, 4)):
        nodes = onnx.load(kept / f"tiny_llama.{variant['kind']}" / "model.onnx").graph.node
        assert {attribute.i for node in nodes if node.op_type == "MatMulNBits" for attribute in node.attribute if attribute.name == "bits"} == {bits}
        assert not any(node.op_type == "MatMul" for node in nodes)
        assert "onnxruntime" in variant["model"]["made"]
    assert 1e-9 < int8["texts"]["kl_divergence"] < int4["texts"]["kl_divergence"] < 1
    again = variants(f"{kept}/tiny_llama.int8@onnxruntime-genai,prompt_tokens=4,output_tokens=2", "--precisions", "float32,int4", *QUICK)
    assert again["variants"][1]["failure"].endswith("the weights of tiny_llama_int8 have fewer bits already: give the folder that it was made of")


@pytest.mark.parametrize("model, arguments, sentence", [
    ("tiny_llama@llama-cpp", ("--quantise", "static"), "--quantise is of other models: int8 and int4 of a language model are of its weights alone"),
    ("tiny_llama", (), "tiny_llama is a language model: name the back end that runs it, such as tiny_llama@llama-cpp"),
    ("mlp@onnxruntime", ("--precisions", "int5"), "there is no 'int5'"),
])
def test_variants_of_language_models_that_are_refused(variants, model, arguments, sentence):
    assert sentence in variants(model, *arguments, code=2)
