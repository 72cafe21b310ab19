"""Where answers of language models part, as text, and what their KV cache takes: as the runtimes themselves say it."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("generation")
LENGTH, PROMPTS = 48, 4


@pytest.fixture
def generation(need):
    need("generation")


@pytest.fixture
def gguf_file(tiny_llama, plugin, tmp_path):
    """Alone, without a tokenizer.json."""
    from infermeter.making import Job

    (tmp_path / "gguf").mkdir()
    job = Job("tiny_llama", str(tiny_llama / "config.json"), {}, "", str(tmp_path / "gguf/config.json"))
    plugin("infermeter_make_llama-cpp").make(job)
    return (tmp_path / "gguf/model.gguf").rename(tmp_path / "x.gguf")


# --- tokens as text --------------------------------------------------------------------------------------------------


@pytest.fixture(params=["tokenizer.json", "gguf"])
def tokenizer(request, tiny_llama):
    return tiny_llama / "tokenizer.json" if request.param == "tokenizer.json" else request.getfixturevalue("gguf_file")


def test_tokens_are_written_as_text(tokenizer):
    from infermeter.text_tokenizer import texts_of, tokens_of

    text = "Grüße, 5 €"
    [tokens] = tokens_of([(text, False)], tokenizer, "a test")
    assert texts_of([tokens, tokens[:3], [256, *tokens[:1], 257], []], tokenizer, "a test") == [text, "Gr\ufffd", "<s>G</s>", ""]


def parted(tokenizer, folder, *partings, most=1024):
    from infermeter.making import Job, parting_texts

    text = ";".join("|".join(",".join(map(str, tokens)) for tokens in parting) for parting in partings)
    parting_texts.make(Job("tiny_llama", str(tokenizer), {"tokens": text, "most_bytes": str(most)}, "", str(folder / "texts")))
    *texts, end = (folder / "texts").read_bytes().split(b"\0")
    assert end == b"" and all(len(each) <= most for each in texts)
    return [each.decode() for each in texts]


def test_texts_part_before_the_character_that_differs(tokenizer, tmp_path):
    umlaut, accent = "für".encode(), "fèr".encode()  # the same in their first two bytes
    assert umlaut[:2] == accent[:2]
    assert parted(tokenizer, tmp_path, (umlaut[:2], umlaut[2:], accent[2:]), (b"", b"a", b"b")) == ["f", "ür", "èr", "", "a", "b"]


def test_texts_are_short_and_have_no_zeros(tokenizer, tmp_path):
    texts = parted(tokenizer, tmp_path, ("ä".encode() * 9, b"x" * 16, b"\0\xff"), most=15)
    assert texts == ["…äää", "xxx…", "\ufffd\ufffd"]


def test_tokens_that_a_tokenizer_does_not_have(gguf_file, tmp_path):
    from infermeter.backend import Refused

    with pytest.raises(Refused, match="tiny_llama: x.gguf cannot be used: it has no token 258"):
        parted(gguf_file, tmp_path, ([1], [258], [2]))


# --- in a report -----------------------------------------------------------------------------------------------------


@pytest.fixture
def parts_of(run, tmp_path):
    """parts_of("run", "tiny_llama@llama-cpp", …) -> what is said of two subjects whose answers part, to the same prompts of letters."""

    def call(verb, reference, candidate, *options):
        np.save(tmp_path / "prompts.npy", np.random.default_rng(1).integers(32, 127, (PROMPTS, 24)))
        subjects = (f"{one},threads=1,output_tokens={LENGTH}" for one in (f"a={reference}", f"b={candidate}"))
        done = run(verb, *subjects, "--data", tmp_path / "prompts.npy", *options)
        assert done.returncode == 1, done.stderr
        return done

    return call


def assert_texts_are_of_their_tokens(difference):
    """The zoo's tokens are bytes."""
    assert difference["name"] == "tokens" and difference["partings"]
    for parting in difference["partings"]:
        before, *ways = (bytes(map(int, parting[key])) for key in ("before", "reference", "candidate"))
        texts = [parting[key] for key in ("reference_text", "candidate_text")]
        for way, text in zip(ways, texts, strict=True):
            assert parting["before_text"] + text == (before + way).decode("utf-8", "replace").replace("\0", "\ufffd")
        assert texts[0] != texts[1]


OTHERS = {"openvino-genai": "dtype=bfloat16,kv_cache=bf16", "llama-cpp": "kv_cache=q4_0,flash_attention=true"}


@pytest.mark.parametrize("name", OTHERS)
def test_a_validation_shows_where_answers_part(parts_of, name):
    if name == "openvino-genai" and "bf16" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor does not compute in bfloat16")
    found = json.loads(parts_of("validate", f"tiny_llama@{name}", f"tiny_llama@{name},{OTHERS[name]}", "--format", "json").stdout)
    assert_texts_are_of_their_tokens(found["outputs"][0]["difference"])


def test_weights_of_8_bits_part_from_those_of_32(parts_of, gguf_file, tmp_path):
    """Quantised by llama.cpp itself: each file has a tokenizer of its own."""
    from cyllama.llama import llama_cpp

    llama_cpp.set_log_callback(lambda level, text: None)
    params = llama_cpp.LlamaModelQuantizeParams()
    params.ftype, params.nthread = 7, 1  # LLAMA_FTYPE_MOSTLY_Q8_0
    llama_cpp.model_quantize(str(gguf_file), str(tmp_path / "q8_0.gguf"), params)
    found = json.loads(parts_of("validate", f"{gguf_file}@llama-cpp", f"{tmp_path}/q8_0.gguf@llama-cpp", "--format", "json").stdout)
    assert found["candidate"]["executed"]["weights"] == "Q8_0"
    assert_texts_are_of_their_tokens(found["outputs"][0]["difference"])


def test_every_form_of_a_run_shows_where_answers_part(parts_of, run, gguf_file):
    """The two have tokenizers of their own here: a tokenizer.json, and that of the GGUF file."""
    found = json.loads(parts_of("run", "tiny_llama@openvino-genai", f"{gguf_file}@llama-cpp,{OTHERS['llama-cpp']}", "--iterations", "2",
                                "--warmup", "1", "--processes", "2", "--format", "json").stdout)
    difference = found["subjects"][1]["outputs"]["differences"][0]
    assert_texts_are_of_their_tokens(difference)
    sizes = [6 * 2 * 2 * 64 * 4, 6 * 2 * 2 * 64 * 18 // 32]
    assert [subject["kv_cache"] for subject in found["subjects"]] == [
        {"bytes_per_token": size, "context": 2048, "bytes": 2048 * size} for size in sizes]
    stored = json.loads(run("report", "latest", "--format", "json").stdout)
    assert stored["subjects"][1]["outputs"]["differences"][0] == difference
    for form, caption in (("table", "Answers part"), ("markdown", "| Answers part |")):
        text = run("report", "latest", "--format", form).stdout
        assert caption in text and "6.14 kB per token, 12.6 MB at 2048 tokens" in text, text
        assert f"{int(difference['partings'][0]['position'])} of {LENGTH} tokens" in text


def test_without_a_tokenizer_partings_are_tokens(parts_of, converted_without):
    difference = json.loads(parts_of("validate", *converted_without, "--format", "json").stdout)["outputs"][0]["difference"]
    assert difference["partings"] and not difference["partings"][0].keys() & {"before_text", "reference_text", "candidate_text"}


def test_a_tokenizer_that_cannot_be_used_is_told(parts_of, gguf_file, tmp_path):
    model = shutil.copy(gguf_file, tmp_path / "model.gguf")
    (tmp_path / "tokenizer.json").write_text("{}")
    told = parts_of("validate", f"{model}@llama-cpp", f"{model}@llama-cpp,{OTHERS['llama-cpp']}", "--format", "json")
    difference = json.loads(told.stdout)["outputs"][0]["difference"]
    assert difference["partings"] and "reference_text" not in difference["partings"][0]
    (line,) = [line for line in told.stderr.splitlines() if "tokens are shown by their numbers" in line]
    assert "tokenizer.json" in line


@pytest.fixture
def converted_without(tiny_llama, plugin, tmp_path):
    """Two subjects of a folder without a tokenizer.json."""
    from infermeter.making import Job

    (tmp_path / "bare").mkdir()
    plugin("infermeter_make_llama-cpp").make(Job("tiny_llama", str(tiny_llama / "config.json"), {}, "", str(tmp_path / "bare/config.json")))
    (tmp_path / "bare/tokenizer.json").unlink(missing_ok=True)
    return f"{tmp_path}/bare@llama-cpp", f"{tmp_path}/bare@llama-cpp,{OTHERS['llama-cpp']}"


# --- the KV cache ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "q8_0", "q4_0"])
def test_the_kv_cache_is_what_llama_cpp_says(tiny_llama, gguf_file, open_runtime, load_of, kind):
    from cyllama.llama import llama_cpp

    runtime, said = open_runtime("llama-cpp"), []
    llama_cpp.set_log_callback(lambda level, text: said.append(text))
    load = load_of(gguf_file, batch=1, threads=1, kv_cache=kind, flash_attention="true", prompt_tokens="24", output_tokens="2024")
    executed = runtime.load(load).executed()
    [size] = re.findall(r"llama_kv_cache: size = +([\d.]+) MiB \( *2048 cells", "".join(said))
    assert executed["context"] == executed["n_ctx"] == "2048"
    assert int(executed["kv_bytes_per_token"]) * 2048 / 2**20 == pytest.approx(float(size), abs=0.005)


def test_the_kv_cache_is_what_onnxruntime_genai_makes_room_for(tiny_llama, plugin, open_runtime, load_of, tmp_path):
    from infermeter.making import Job

    target = tmp_path / "config.json"
    plugin("infermeter_make_onnxruntime-genai").make(Job("tiny_llama", str(tiny_llama / "config.json"), {}, "", str(target)))
    session = open_runtime("onnxruntime-genai").load(load_of(target, batch=1, threads=1, prompt_tokens="8", output_tokens="8"))
    generator = session._engine._generator(2048, 0)
    generator.append_tokens(np.zeros(1, np.int32))
    room = sum(generator.get_input(f"past_key_values.{layer}.{part}").nbytes for layer in range(6) for part in ("key", "value"))
    assert int(session.executed()["kv_bytes_per_token"]) * 2048 == room


@pytest.mark.parametrize("changes, kept", [
    ({}, 6 * 2 * 2 * 64),
    ({"num_key_value_heads": None, "head_dim": 100}, 6 * 8 * 2 * 100),
    ({"model_type": "mistral", "sliding_window": 1024}, None),
    ({"model_type": "mistral", "sliding_window": 4096}, 6 * 2 * 2 * 64),
    ({"model_type": "qwen2", "sliding_window": 1024, "use_sliding_window": False}, 6 * 2 * 2 * 64),
    ({"model_type": "deepseek_v3"}, None),
    ({"num_hidden_layers": "six"}, None),
])
def test_what_a_model_keeps_of_a_token(tiny_llama, tmp_path, changes, kept):
    from infermeter.generation import LanguageModel

    (tmp_path / "config.json").write_text(json.dumps(json.loads((tiny_llama / "config.json").read_text()) | changes))
    assert LanguageModel.read(str(tmp_path / "config.json")).kept_values == kept
