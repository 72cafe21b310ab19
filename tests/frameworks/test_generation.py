"""Language models in this process: the folder, prompts, and answers token by token, called as a worker calls it."""

import dataclasses
import functools
import json
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

LENGTH, PROMPT = 12, 24


@pytest.fixture
def load_of(load_of):
    """One request at a time, which is all that these back ends take; with one thread, so that a busy machine answers soon."""

    def make(model="", data_shape="", batch=1, **options):
        return dataclasses.replace(load_of(model, batch=batch, threads=1, **options), data_shape=data_shape)

    return make


@pytest.fixture
def folder(tiny_llama, tmp_path):
    """folder(config={...}, generation={...}, tokenizer={...}) -> a copy without weights, changed so; None removes a key."""

    def make(**changes):
        target = tmp_path / "model"
        target.mkdir()
        files = {"config": "config.json", "generation": "generation_config.json", "tokenizer": "tokenizer.json"}
        for name, file in files.items():
            content = json.loads((tiny_llama / file).read_text()) | changes.get(name, {})
            (target / file).write_text(json.dumps({key: value for key, value in content.items() if value is not None}))
        return target

    return make


def info():
    from infermeter.backend import Info
    from infermeter.generation import FORMAT, OPTIONS

    return Info("genai", "GenAI", "1", "", (FORMAT,), ("cpu",), ("float32",), OPTIONS)


def refusal(folder, load_of, **options):
    from infermeter.backend import Refused
    from infermeter.generation import LanguageModel, Settings

    with pytest.raises(Refused) as raised:
        load = load_of(folder / "config.json", **options)
        settings = Settings.read(info(), load)
        settings.check(LanguageModel.read(load.model))
    return str(raised.value)


def test_the_folder_says_what_the_model_is(tiny_llama, built_package):
    from infermeter.generation import LanguageModel

    model = LanguageModel.read(str(tiny_llama / "config.json"))
    assert (model.name, model.vocabulary, model.context, model.ends) == ("tiny_llama", 258, 2048, (257,))
    assert model.special == {256, 257}


@pytest.mark.parametrize("changes, sentence", [
    ({"config": {"vocab_size": 200}},
     "the tokenizer of model does not fit the model: it has the token 257 ('</s>'), and the model knows 200 tokens (vocab_size "
     "of config.json); take the tokenizer that came with the model"),
    ({"config": {"vocab_size": None}}, "config.json of the model model does not say vocab_size"),
    ({"config": {"max_position_embeddings": -5}}, "config.json of the model model does not say max_position_embeddings"),
])
def test_folders_that_are_refused(folder, load_of, changes, sentence):
    assert refusal(folder(**changes), load_of) == sentence


@pytest.mark.parametrize("content, sentence", [
    ("[]", "config.json of the model model contains no object"),
    ("[" * 100000, "config.json of the model model is not JSON: "),
    ("{", "config.json of the model model is not JSON: "),
])
def test_hostile_files(folder, load_of, content, sentence):
    place = folder()
    (place / "config.json").write_text(content)
    assert refusal(place, load_of).startswith(sentence)


@pytest.mark.parametrize("options, sentence", [
    ({"prompt_tokens": "2000"},
     "prompt_tokens=2000 and output_tokens=64 are 2064 tokens, and model has a context of 2048: ask for fewer"),
    ({"prompt_tokens": "8", "shared_prefix": "9"}, "a prompt of prompt_tokens=8 cannot share shared_prefix=9"),
    ({"output_tokens": "0"}, "genai cannot use output_tokens=0: it must be 1 to 1000000; give output_tokens=N|uniform:LOW:HIGH|normal:MEAN:SD"),
    ({"output_tokens": "gamma:4:2"}, "genai cannot use output_tokens=gamma:4:2; give output_tokens=N|uniform:LOW:HIGH|normal:MEAN:SD"),
    ({"prompt_tokens": "uniform:9:9"}, "genai cannot use prompt_tokens=uniform:9:9: LOW must be below HIGH; give prompt_tokens=N|"),
    ({"prompt_tokens": "normal:2000:9"},
     "prompt_tokens=normal:2000:9 and output_tokens=64 are 2064 tokens, and model has a context of 2048: ask for fewer"),
    ({"output": "logits", "prompt_tokens": "normal:20:9"}, "output=logits reads texts of one length: give prompt_tokens=N, not normal:20:9"),
    ({"output": "logits", "prompts": "x.txt"}, "output=logits reads texts of one length, and prompts=FILE has others: leave it out"),
    ({"prompts": "x.txt", "shared_prefix": "9"}, "the prompts are those of a file: leave shared_prefix out"),
    ({"prompts": "data"}, "prompts are data where --data names tokens: leave prompts=data out; a file is ./data"),
    ({"seed": "1e3"}, "genai cannot use seed=1e3; give a number from 0 to 18446744073709551615"),
    ({"force_length": "no"}, "genai cannot use force_length=no; give force_length=true|false"),
])
def test_options_that_are_refused(folder, load_of, options, sentence):
    assert refusal(folder(), load_of, **options).startswith(sentence)


@pytest.mark.parametrize("text, sentence", [
    (None, "the file cannot be read: No such file or directory"),
    ("\n", "there is no prompt in it"),
    ('{"prompt": 5}', "line 1 has a prompt that is not a text"),
    ('[{"prompt": "a"}, {"conversations": [{"from": "human", "value": "' + 2000 * "x" + '"}]}]',
     "entry 2 has 2000 tokens, and with an answer of 64 they do not fit into the context of model, which is 2048: take it out, or ask "
     "for fewer output_tokens"),
])
def test_prompts_of_a_file_that_are_refused(need, folder, load_of, tmp_path, text, sentence):
    need("generation")
    file = tmp_path / "prompts.json"
    if text is not None:
        file.write_text(text)
    assert refusal(folder(), load_of, prompts=str(file)) == f"prompts={file}: {sentence}"


def test_prompts_of_a_file_need_the_models_tokenizer(need, folder, load_of, tmp_path):
    need("generation")
    place = folder()
    (place / "tokenizer.json").unlink()
    assert refusal(place, load_of, prompts="a.txt") == "model has no tokenizer.json, which prompts=a.txt needs"
    (place / "tokenizer.json").write_text("{}")
    (tmp_path / "a.txt").write_text("a")
    assert f"prompts={tmp_path}/a.txt: tokenizer.json cannot be used: " in refusal(place, load_of, prompts=f"{tmp_path}/a.txt")


def test_without_an_end_token_the_length_must_be_forced(folder, load_of):
    place = folder(config={"eos_token_id": None}, generation={"eos_token_id": None})
    assert refusal(place, load_of, force_length="false") == (
        "model has no end token (eos_token_id), so that its answers never end by themselves: give force_length=true"
    )


def test_prompts_are_the_same_everywhere_and_never_alike(built_package):
    from infermeter.generation import draw_tokens

    choice = np.arange(100, dtype=np.int64)
    assert draw_tokens(0, 0, 5, choice).tolist() == draw_tokens(0, 0, 9, choice)[:5].tolist() == GOLDEN
    prompts = {tuple(draw_tokens(seed, number, 16, choice)) for seed in (1, 2, 2**64 - 1) for number in range(100)}
    assert len(prompts) == 300
    counts = np.bincount(draw_tokens(3, 1, 100_000, choice), minlength=100)
    assert len(counts) == 100 and counts.min() > 800 and counts.max() < 1200


def test_what_is_called_special_changes_no_other_token_of_a_prompt(built_package, folder):
    """Files of one model may differ in that: a GGUF file calls what the tokenizer lacks unused, and its folder says nothing of it."""
    from infermeter.generation import LanguageModel, draw_tokens, ordinary_tokens

    def prompt(special):
        model = LanguageModel(pathlib.Path(), "", 1000, 2048, (), frozenset(special))
        return draw_tokens(0, 0, 500, ordinary_tokens(model))

    some, more = prompt({1, 2}), prompt({1, 2, 500, 501, 999})
    hit = np.isin(some, [500, 501, 999])
    assert hit.any() and (some == more)[~hit].all()
    assert np.isin(more[hit], [502, 0]).all(), "the next one that is not special"
    place = folder(config={"vocab_size": 300})
    assert LanguageModel.read(str(place / "config.json")).special == {256, 257, *range(258, 300)}


GOLDEN = [88, 43, 2, 97, 10]  # SplitMix64 from 0 begins with e220a8397b1dcdaf, of which 88 % of 2^64 is below


# --- a runtime -------------------------------------------------------------------------------------------------------


def passes(folder, prompt, count):
    """What Llama's formulae say, in float64: logits of each of the prompt's tokens, and then of one greedy token after the other."""
    from infermeter.zoo.llama import read_sizes, read_weights

    sizes = read_sizes(folder)
    weights = {name: array.astype(np.float64) for name, array in read_weights(folder).items()}
    size, new, kept, done = sizes.head_size, list(prompt), {}, 0

    def norm(x, name):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + sizes.epsilon) * weights[f"{name}.weight"]

    for _ in range(count):  # the prompt, and then one token after the other behind the keys and values of those before it
        angles = np.outer(np.arange(done, done + len(new)), sizes.rope_theta ** (-np.arange(0, size, 2) / size))
        angles = np.concatenate([angles, angles], 1)

        def rotated(x, angles=angles):
            turned = np.concatenate([-x[..., size // 2 :], x[..., : size // 2]], -1)
            return x * np.cos(angles) + turned * np.sin(angles)

        x = weights["model.embed_tokens.weight"][new]
        future = np.triu(np.ones((len(new), done + len(new)), bool), done + 1)
        for index in range(sizes.layers):
            layer = f"model.layers.{index}"
            h = norm(x, f"{layer}.input_layernorm")
            query, key, value = (
                (h @ weights[f"{layer}.self_attn.{name}_proj.weight"].T).reshape(len(new), -1, size).transpose(1, 0, 2)
                for name in "qkv"
            )
            repeats = sizes.heads // sizes.key_value_heads
            key, value = rotated(key).repeat(repeats, 0), value.repeat(repeats, 0)
            if layer in kept:
                key, value = (np.concatenate(pair, 1) for pair in zip(kept[layer], (key, value), strict=True))
            kept[layer] = key, value
            scores = np.where(future, -np.inf, rotated(query) @ key.transpose(0, 2, 1) / np.sqrt(size))
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            seen = (scores / scores.sum(-1, keepdims=True)) @ value
            x = x + seen.transpose(1, 0, 2).reshape(len(new), -1) @ weights[f"{layer}.self_attn.o_proj.weight"].T
            h = norm(x, f"{layer}.post_attention_layernorm")
            gate = h @ weights[f"{layer}.mlp.gate_proj.weight"].T
            h = gate / (1 + np.exp(-gate)) * (h @ weights[f"{layer}.mlp.up_proj.weight"].T)
            x = x + h @ weights[f"{layer}.mlp.down_proj.weight"].T
        logits = norm(x, "model.norm") @ weights["lm_head.weight"].T
        yield logits
        done, new = done + len(new), [int(logits[-1].argmax())]


def reference(folder, prompt, count):
    """Greedy tokens, and the logits of each step."""
    steps = [logits[-1] for logits in passes(folder, prompt, count)]
    return [int(step.argmax()) for step in steps], steps


@pytest.fixture(scope="session")
def converted(tiny_llama, plugin, tmp_path_factory):
    """converted("openvino-genai") -> the config.json of tiny_llama in that back end's form."""

    @functools.cache
    def make(name):
        from infermeter.making import Job

        if name == "pytorch":  # reads the folder itself
            return tiny_llama / "config.json"
        target = tmp_path_factory.mktemp(name) / "config.json"
        job = Job("tiny_llama", str(tiny_llama / "config.json"), {}, "", str(target))
        plugin(f"infermeter_make_{name}").make(job)
        return target

    return make


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def session(need, home, open_runtime, converted, load_of):
    """session("llama-cpp", seed="5") -> tiny_llama, loaded."""
    need("generation")

    def load(name, model=None, *, data_shape="", **options):
        if name == "pytorch":
            need("pytorch")
        lengths = {"output_tokens": str(LENGTH)}
        if not data_shape:
            lengths["prompt_tokens"] = str(PROMPT)
        options = {key: value for key, value in (lengths | options).items() if value is not None}
        return open_runtime(name).load(load_of(model or converted(name), data_shape, **options))

    return load


@pytest.fixture
def refused(session):
    """refused("llama-cpp", kv_cache="u4") -> the sentence."""

    def sentence(*arguments, **options):
        from infermeter.backend import Refused

        with pytest.raises(Refused) as raised:
            session(*arguments, **options)
        return str(raised.value)

    return sentence


def answer_of(session, step):
    answer = step()
    parts = session.parts(answer)
    session.between()
    return answer, parts


BACKENDS = ("openvino-genai", "onnxruntime-genai", "pytorch", "llama-cpp")


# Of 258 tokens; the two last ones are special.
ORDINARY = np.append(np.arange(256, dtype=np.int64), [0, 0])


@pytest.fixture(scope="module")
def first_prompt(built_package):
    from infermeter.generation import draw_tokens

    return draw_tokens(0, 0, PROMPT, ORDINARY)


@pytest.fixture(scope="module")
def expected(tiny_llama, first_prompt):
    return reference(tiny_llama, first_prompt, LENGTH)


@pytest.mark.parametrize("name, options", [
    *((name, {}) for name in BACKENDS),
    ("openvino-genai", {"attention": "sdpa"}),
    ("llama-cpp", {"flash_attention": "true", "n_batch": "7", "n_ubatch": "3", "mmap": "false"}),
])
def test_answers_are_as_the_formulae_say(session, expected, name, options):
    loaded = session(name, **options)
    answer, parts = answer_of(loaded, loaded.bind([]))
    assert loaded.values(answer)[0].tolist() == expected[0]
    assert len(parts.moments_ns) == parts.output_tokens == LENGTH and parts.prompt_tokens == PROMPT
    assert list(parts.moments_ns) == sorted(parts.moments_ns)
    executed = loaded.executed()
    assert (executed["dtype"], executed["kv_cache"], executed["prefix_caching"]) == ("float32", "f32", "false")
    assert executed.items() >= options.items()


@pytest.mark.parametrize("name, file, penalties", [
    ("pytorch", "generation_config.json", {"repetition_penalty": 9.0, "no_repeat_ngram_size": 1}),
    ("onnxruntime-genai", "genai_config.json", {"search": {"repetition_penalty": 9.0, "no_repeat_ngram_size": 1}}),
    ("openvino-genai", "generation_config.json", {"repetition_penalty": 9.0, "no_repeat_ngram_size": 1}),
])
def test_answers_are_greedy_whatever_the_folder_says_of_penalties(session, converted, expected, tmp_path, name, file, penalties):
    place = shutil.copytree(converted(name).parent, tmp_path / "penalised")
    content = json.loads((place / file).read_text())
    for key, value in penalties.items():
        content[key] = content.get(key, {}) | value if isinstance(value, dict) else value
    (place / file).write_text(json.dumps(content))
    loaded = session(name, place / "config.json")
    assert loaded.values(answer_of(loaded, loaded.bind([]))[0])[0].tolist() == expected[0]


@pytest.mark.parametrize("name", BACKENDS)
def test_texts_may_be_as_long_as_the_context(session, name):
    length = 2048
    loaded = session(name, output="logits", prompt_tokens=str(length))
    step = loaded.bind([])
    for _ in range(2):
        assert loaded.values(step())[0].shape == (length, 258)
        loaded.between()


@pytest.mark.parametrize("name, options", [*((name, {}) for name in BACKENDS), ("llama-cpp", {"n_batch": "7", "n_ubatch": "3"})])
def test_scores_of_a_text_are_as_the_formulae_say(session, expected, first_prompt, name, options):
    """Of the prompt with its answer, whose tokens the formulae's logits of each step led to; and again, after another text."""
    text = np.concatenate([first_prompt, expected[0][:-1]])[None]
    loaded = session(name, output="logits", data_shape=f"1x{text.shape[1]}:int64", **options)
    (port,) = loaded.inputs
    assert (port.name, port.dtype, port.shape) == ("input_ids", "int64", text.shape)
    first = loaded.values(loaded.bind([text])())[0]
    loaded.bind([text[:, ::-1].copy()])()
    (again,) = loaded.values(loaded.bind([text])())
    assert first.shape == again.shape == loaded.outputs[0].shape == (text.shape[1], 258) and first.dtype == np.float32
    wanted = np.array(expected[1])
    for got in (first, again):
        assert np.linalg.norm(got[PROMPT - 1 :] - wanted) <= 1e-4 * np.linalg.norm(wanted)


@pytest.mark.parametrize("name", BACKENDS)
def test_prompts_that_are_data_are_each_answered(session, expected, first_prompt, name):
    loaded = session(name, data_shape=f"1x{PROMPT}:int64")
    other = loaded.values(answer_of(loaded, loaded.bind([first_prompt[None, ::-1].copy()]))[0])[0].tolist()
    assert loaded.values(answer_of(loaded, loaded.bind([first_prompt[None]]))[0])[0].tolist() == expected[0] != other
    assert loaded.executed()["prompts"] == f"data, {PROMPT} tokens"


@pytest.mark.parametrize("name, other", [("openvino-genai", "onnxruntime-genai"), ("llama-cpp", "openvino-genai")])
def test_another_question_each_time_and_the_first_answer_is_shown(session, name, other):
    loaded = session(name, seed="5")
    step = loaded.bind([])
    first, _ = answer_of(loaded, step)
    kept = loaded.values(first)[0].tolist()
    others = [answer_of(loaded, step)[0] for _ in range(3)]
    assert len({tuple(answer.tokens) for answer in (first, *others)}) == 4
    assert loaded.values(others[-1])[0].tolist() == kept == first.tokens
    again = session(other, seed="5")
    step = again.bind([])
    assert [answer_of(again, step)[0].tokens for _ in range(2)] == [first.tokens, others[0].tokens]


@pytest.mark.parametrize("name", BACKENDS)
def test_lengths_are_drawn_for_each_request(session, name):
    from infermeter.prompts import Lengths

    prompts, answers = Lengths.parse("normal:12:4"), Lengths.parse("uniform:1:7")
    loaded = session(name, seed="5", prompt_tokens=str(prompts), output_tokens=str(answers), shared_prefix="10")
    step = loaded.bind([])
    got = [answer_of(loaded, step)[1] for _ in range(5)]
    assert [(each.prompt_tokens, each.output_tokens) for each in got] == [
        (12, 4), *((prompts.drawn(5, n, 1, 10, 2047), answers.drawn(5, n, 2, 1, 2047)) for n in range(1, 5))
    ]
    executed = loaded.executed()
    assert (executed["prompts"], executed["max_tokens"]) == ("synthetic, normal:12:4 tokens, 10 of them shared", "uniform:1:7")


@pytest.mark.parametrize("name", BACKENDS)
def test_lengths_of_recorded_arrivals_are_asked_for(session, name):
    loaded = session(name)
    step = loaded.bind([])
    answer_of(loaded, step)
    got = []
    for lengths in ((9, 2), (0, 0), None, (20, 14)):
        if lengths:
            loaded.lengths(*lengths)
        got.append(answer_of(loaded, step)[1])
    assert [(each.prompt_tokens, each.output_tokens) for each in got] == [(9, 2), (1, 1), (PROMPT, LENGTH), (20, 14)]


def test_more_than_there_is_room_for_is_refused(session):
    from infermeter.backend import Refused

    loaded = session("llama-cpp")
    with pytest.raises(Refused, match="a prompt of 1500 and an answer of 9 tokens are asked for, and there is room for .*: give the longest"):
        loaded.lengths(1500, 9)


def test_lengths_are_clipped_to_the_context(session):
    loaded = session("onnxruntime-genai", seed="5", prompt_tokens="uniform:1:3000", output_tokens="normal:2:1")
    step = loaded.bind([])
    answer_of(loaded, step)
    asked = [(loaded._prompts.next.shape[1], loaded._prompts.answer) for _ in range(40) if not loaded._prompts.between()]
    assert max(map(sum, asked)) == 2048 and min(answer for _, answer in asked) == 1


@pytest.mark.parametrize("name", BACKENDS)
def test_prompts_are_those_of_a_file(session, converted, tmp_path, name):
    file = tmp_path / "prompts.txt"
    file.write_text("one\n\ntwenty\nthe third\nthree\n")
    loaded = session(name, data_shape="", seed="7", prompts=str(file), prompt_tokens=None)
    step = loaded.bind([])
    got = [answer_of(loaded, step)[1].prompt_tokens for _ in range(7)]
    assert got[0] == 3 and sorted(got[1:4]) == [5, 6, 9] and got[4:] == got[1:4]
    executed = loaded.executed()
    assert (executed["prompts"], executed["prompts_in_file"]) == ("file, 4 of them, 3 to 9 tokens", "4")


@pytest.mark.parametrize("name, data_shape, options, sentence", [
    ("onnxruntime-genai", "", {"batch": 2}, "onnxruntime-genai has one request in flight at a time, and batch size 2 was asked for: give batch=1"),
    ("onnxruntime-genai", "1x3x8x8", {}, "onnxruntime-genai takes tokens as data, int64 of shape [texts, tokens], and this is 1x3x8x8"),
    ("onnxruntime-genai", "1x8:int64", {"output_tokens": "normal:8:2"},
     "data are asked for answers of one length: give output_tokens=N, not normal:8:2"),
    ("onnxruntime-genai", "1x8:int64", {"prompts": "a.txt"}, "the data are the prompts: leave prompts out"),
    ("onnxruntime-genai", "1x8:int64", {"prompt_tokens": "8"}, "the data are the prompts: leave prompt_tokens out"),
    ("openvino-genai", "1x3000:int64", {"output": "logits"},
     "a text of 3000 tokens does not fit into the context of model, which is 2048: give shorter texts"),
    ("openvino-genai", "", {"output": "logits", "attention": "paged"},
     "attention, prefix_caching and kv_cache are of answers: a text is read at once, with output=logits; leave them out"),
    ("openvino-genai", "", {"output": "text"}, "openvino-genai cannot use output=text; give output=tokens|logits"),
    ("pytorch", "", {"compile": "true"}, "compile: no option of language models; leave it out"),
])
def test_what_is_refused(session, converted, tmp_path, open_runtime, load_of, need, name, data_shape, options, sentence):
    from infermeter.backend import Refused

    if name == "pytorch":
        need("pytorch")
    model = tmp_path / "model"
    model.symlink_to(converted(name).parent)
    with pytest.raises(Refused) as raised:
        open_runtime(name).load(load_of(model / "config.json", data_shape, **options))
    assert str(raised.value) == sentence


def test_tokens_that_the_model_does_not_know(session):
    from infermeter.backend import Refused

    loaded = session("onnxruntime-genai", data_shape="1x4:int64")
    with pytest.raises(Refused) as raised:
        loaded.bind([np.array([[1, 2, 258, -1]])])
    assert str(raised.value) == "the data have the token 258, and onnxruntime-genai0 knows 258 tokens, from 0 on"


def test_pytorch_refuses_options_of_language_models_for_others(need, open_runtime, load_of, tmp_path):
    from infermeter.backend import Refused

    need("pytorch")
    with pytest.raises(Refused) as raised:
        open_runtime("pytorch").load(load_of(tmp_path / "model.pt", output_tokens="4"))
    assert str(raised.value) == f"output_tokens: of language models only, and {tmp_path}/model.pt is none; leave it out"


def test_genai_refuses_what_it_cannot_do(session, open_runtime, tiny_llama, load_of):
    from infermeter.backend import Refused

    for options, sentence in (
        ({"kv_cache": "u4"}, "openvino-genai cannot use kv_cache=u4; give kv_cache=f32|f16|bf16|u8"),
        ({"attention": "sdpa", "prefix_caching": "true"}, "prefix_caching=true needs attention=paged"),
    ):
        with pytest.raises(Refused) as raised:
            session("openvino-genai", **options)
        assert str(raised.value) == sentence
    for name, file in (("openvino-genai", "openvino_model.xml"), ("onnxruntime-genai", "genai_config.json"), ("llama-cpp", "GGUF file")):
        with pytest.raises(Refused) as raised:
            open_runtime(name).load(load_of(tiny_llama / "config.json"))
        assert str(raised.value).startswith(f"tiny_llama has no {file}: ")


@pytest.mark.parametrize("name", ["openvino-genai", "llama-cpp"])
def test_a_run_has_the_times_of_tokens(need, infermeter, environment_in, tmp_path, name):
    need("generation")
    subject = f"tiny_llama@{name},prompt_tokens={PROMPT},output_tokens={LENGTH},threads=1"
    done = subprocess.run(
        [infermeter, "run", subject, "--iterations", "12", "--warmup", "1", "--processes", "2", "--format", "json"],
        cwd=tmp_path, env=environment_in(tmp_path), capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["models"][0]["sha256"].startswith("7a29c58a")
    seeds = set()
    for trial in record["trials"]:
        generation, executed = trial["generation"], trial["executed"]
        assert (generation["answers"], generation["output_tokens"]) == (12, 12 * LENGTH)
        assert generation["parts"] == generation["output_tokens"] and generation["prompt_tokens"] == 12 * PROMPT
        assert (executed["kv_cache"], executed["prefix_caching"], executed["tokens_counted_by"]) == ("f32", "false", "runtime")
        assert (executed["dtype"], executed["threads"]) == ("float32", "1")
        seeds.add(executed["prompt_seed"])
    assert len(seeds) == 2
    metrics = {counter["name"] for counter in record["subjects"][0]["counters"]}
    assert {"ttft_p50", "tpot_p50", "itl_p50", "output_tokens_rate"} <= metrics


# --- GGUF ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def gguf_file(converted, need, tmp_path):
    """gguf_file(change) -> the zoo's, its bytes as `change` makes them of what they were."""
    need("generation")

    def make(change=lambda content: content):
        file = tmp_path / "x.gguf"
        file.write_bytes(change(converted("llama-cpp").with_name("model.gguf").read_bytes()))
        return file

    return make


def number(key, value):
    """Sets a number of 32 bits in the metadata."""
    def change(content):
        place = content.index(key.encode()) + len(key) + 4
        return content[:place] + value.to_bytes(4, "little") + content[place + 4:]

    return change


def test_a_gguf_file_ends_answers_where_it_says(session, gguf_file):
    """The fourth token of the answer is declared to end answers: it does, unless the length is forced."""
    from infermeter.generation import draw_tokens

    prompt = draw_tokens(7, 0, PROMPT, ORDINARY).reshape(1, -1)

    def answer(file, **options):
        tokens = []
        session("llama-cpp", file, **options)._engine.generate(prompt, tokens.extend)
        return tokens

    tokens = answer(gguf_file())
    assert len(tokens) == LENGTH and tokens[3] not in tokens[:3]
    changed = gguf_file(number("tokenizer.ggml.eos_token_id", tokens[3]))
    assert answer(changed, force_length="false") == tokens[:4]
    forced = answer(changed)
    assert len(forced) == LENGTH and forced[:3] == tokens[:3] and tokens[3] not in forced


def test_a_gguf_file_is_described_as_its_own_library_reads_it(infermeter, gguf_file, tiny_llama):
    reader = pytest.importorskip("gguf").GGUFReader(str(gguf_file()))

    def field(key):
        return int(reader.fields[f"llama.{key}"].contents())

    def show(*arguments):
        done = subprocess.run([infermeter, "models", "show", *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    shown = json.loads(show(reader.data.filename, "--format", "json"))
    found = shown["gguf"]
    assert shown["parameters"] == sum(int(tensor.n_elements) for tensor in reader.tensors)
    assert shown["parameters"] == json.loads(show("tiny_llama", "--format", "json"))["parameters"]
    types = {tensor.tensor_type.name for tensor in reader.tensors}
    assert {each["type"]: (each["tensors"], each["bytes"]) for each in found["weights"]} == {
        one: (len(own), sum(int(tensor.n_bytes) for tensor in own))
        for one in types for own in [[tensor for tensor in reader.tensors if tensor.tensor_type.name == one]]}
    assert [found[key] for key in ("layers", "heads", "kv_heads", "context_length", "embedding_length")] == [
        field(key) for key in ("block_count", "attention.head_count", "attention.head_count_kv", "context_length", "embedding_length")]
    assert found["vocabulary"] == len(reader.fields["tokenizer.ggml.tokens"].data)
    assert found["kv_bytes_per_token"] == 2 * 2 * field("block_count") * field("attention.head_count_kv") * field("embedding_length") // field("attention.head_count")
    assert "per token in float16 (computed)" in show(reader.data.filename)


def test_sizes_of_tensor_types_are_those_of_ggml(source_dir):
    sizes = pytest.importorskip("gguf.constants").GGML_QUANT_SIZES
    text = (source_dir / "infermeter/models/gguf/gguf_summary.cpp").read_text()
    table = {int(number): (name, int(elements), int(size))
             for number, name, elements, size in re.findall(r'\{(\d+), "(\w+)", (\d+), (\d+)\}', text)}
    assert table == {int(kind): (kind.name, *size) for kind, size in sizes.items()}


HEAD = b"GGUF" + (3).to_bytes(4, "little") + (0).to_bytes(8, "little")


@pytest.mark.parametrize("change, sentence", [
    (lambda content: b"PK" + content[2:], "x.gguf is not a GGUF file: it does not begin with GGUF"),
    (lambda content: content[:4] + b"\x09" + content[5:], "the GGUF file x.gguf is broken: its version is 9, and 2 and 3 are known"),
    (lambda content: content[:100], "the GGUF file x.gguf is broken: its metadata need "),
    (lambda content: content[:-4096], "llama.cpp cannot load x.gguf: "),
    (lambda content: HEAD + (2**62).to_bytes(8, "little"), "the GGUF file x.gguf is broken: its metadata need 8 bytes at byte 24"),
    (lambda content: HEAD + bytes([1] + [0] * 7) + b"\xff" * 16, "the GGUF file x.gguf is broken: its metadata need 18446744073709551615 bytes"),
    (lambda content: HEAD + b"\1" + bytes(7) + b"\x0b" + bytes(7) + b"split.count\2\0\0\0\3\0",
     "x.gguf is one of 3 parts of a model: make them one file (llama-gguf-split --merge)"),
    (lambda content: HEAD + bytes(8), "the GGUF file x.gguf does not say what it is (general.architecture)"),
    (lambda content: content.replace(b"llama.context_length", b"llama.context_lengtx"),
     "the GGUF file x.gguf is broken: it does not say llama.context_length, which must be a number above 0"),
    (lambda content: content.replace(b"\1\0\0\0\0\0\0\0A", b"\1\0\0\0\0\0\0\0B", 1), "the GGUF file x.gguf is broken: its vocabulary has a token twice"),
    (number("llama.attention.head_count", 0),
     "the GGUF file x.gguf is broken: it has 0 as llama.attention.head_count, which must be a number above 0"),
    (lambda content: content.replace(b"output_norm.weight", b"output_nerm.weight"),
     "llama.cpp cannot load x.gguf: missing tensor 'output_norm.weight'"),
])
def test_gguf_files_that_are_refused(refused, gguf_file, change, sentence):
    assert refused("llama-cpp", gguf_file(change)).startswith(sentence)


def test_one_gguf_file_in_a_folder_is_the_model(refused, session, converted, gguf_file, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    gguf_file()
    assert session("llama-cpp", tmp_path / "config.json").executed()["weights"] == "F32"
    (tmp_path / "y.gguf").touch()
    sentence = refused("llama-cpp", tmp_path / "config.json")
    assert sentence.endswith(f" has 2 GGUF files: name one of them, such as {tmp_path.name}/x.gguf")


@pytest.mark.parametrize("options, sentence", [
    ({"kv_cache": "u8"}, "llama-cpp cannot use kv_cache=u8; give kv_cache=f32|f16|bf16|q8_0|q4_0"),
    ({"kv_cache": "q8_0"}, "kv_cache=q8_0 needs flash_attention=true"),
    ({"n_batch": "0"}, "llama-cpp cannot use n_batch=0; give a number from 1 to 9999999"),
    ({"output_tokens": "2040"},
     "prompt_tokens=24 and output_tokens=2040 are 2064 tokens, and model.gguf has a context of 2048: ask for fewer"),
])
def test_llama_cpp_refuses_what_it_cannot_do(refused, options, sentence):
    assert refused("llama-cpp", **options) == sentence


def test_a_gguf_file_is_measured_by_its_name(infermeter, environment_in, gguf_file, tmp_path):
    """Here it is a link to another folder, as in Hugging Face's cache."""
    blobs, work = tmp_path / "blobs", tmp_path / "work"
    blobs.mkdir()
    work.mkdir()
    gguf_file().rename(blobs / "15d3cfefe2")
    (work / "x.gguf").symlink_to("../blobs/15d3cfefe2")
    options = f"threads=1,prompt_tokens={PROMPT},output_tokens={LENGTH}"
    done = subprocess.run(
        [infermeter, "run", f"x.gguf@llama-cpp,{options}", f"x.gguf@llama-cpp,kv_cache=q8_0,flash_attention=true,{options}", "--iterations", "2",
         "--warmup", "1", "--processes", "2", "--format", "json"],
        cwd=work, env=environment_in(tmp_path), capture_output=True, text=True, check=False,
    )
    assert done.returncode in (0, 1), done.stderr  # with keys and values of 8 bits the answer may be another one
    record = json.loads(done.stdout)
    assert record["models"][0]["format"] == "gguf"
    assert {trial["executed"]["kv_cache"] for trial in record["trials"]} == {"f32", "q8_0"}


def test_another_back_end_says_that_it_runs_no_language_models(infermeter, environment_in, tmp_path):
    done = subprocess.run([infermeter, "run", "tiny_llama@onnxruntime"], cwd=tmp_path, env=environment_in(tmp_path),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == ("infermeter: onnxruntime runs no language models, and 'tiny_llama' is one: `infermeter backends` shows "
                           "which back ends read hf\n")


# --- a text ----------------------------------------------------------------------------------------------------------

TEXT_TOKENS = 16
SENTENCES = "It is a truth that is well known, and said again: ünïcode has bytes.\n" * 3


def validate(infermeter, environment_in, here, *arguments):
    return subprocess.run([infermeter, "validate", *arguments], cwd=here, env=environment_in(here), capture_output=True, text=True, check=False)


def test_a_text_is_foretold(need, infermeter, environment_in, tiny_llama, tmp_path):
    """Perplexity and divergence are as SciPy has them from the logits that the formulae give, in float64."""
    from scipy.special import log_softmax

    need("generation")
    (tmp_path / "book.txt").write_text(SENTENCES)
    subjects = ("a=tiny_llama@onnxruntime-genai,threads=1", "b=tiny_llama@openvino-genai,threads=1")
    done = validate(infermeter, environment_in, tmp_path, *subjects, "--text", "book.txt", "--text-tokens", str(TEXT_TOKENS),
                    "--data-limit", "3", "--max-increase", "1%", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["data"] == {"source": "book.txt", "labels": "next", "items": 3, "perturb": 0, "noise": 0.01, "seed": 1}
    texts = [list(SENTENCES.encode()[k * TEXT_TOKENS : (k + 1) * TEXT_TOKENS]) for k in range(3)]  # its tokens are bytes
    losses = []
    for text in texts:
        scores = log_softmax(next(passes(tiny_llama, text[:-1], 1)), axis=1)
        losses.append(-np.mean([row[token] for row, token in zip(scores, text[1:], strict=True)]))
    perplexity = found["perplexity"]
    assert perplexity["baseline"] == pytest.approx(np.exp(np.mean(losses)), rel=1e-4)
    assert abs(perplexity["increase"]) < 1e-4 and perplexity["interval"]["high"] < 0.01 == perplexity["allowed"]
    assert found["outputs"][0]["difference"]["kl_divergence"] < 1e-8
    assert found["outputs"][0]["difference"]["top1_agreement"] == 1


@pytest.mark.parametrize("content, arguments, sentence", [
    (SENTENCES, ("--text-tokens", "1"), "--text-tokens: expected a number from 2 to 1000000, got 1"),
    (SENTENCES, ("--labels", "next"), "--text gives the data and the labels: leave --data and --labels out"),
    ("short", (), "the text has 5 tokens, too few for one of 256: give --text-tokens 5"),
    (b"\xff\xfe", (), "the text is not UTF-8: invalid start byte at byte 0"),
    (None, (), "--text: there is no file 'book.txt'"),
])
def test_texts_that_are_refused(need, infermeter, environment_in, tmp_path, content, arguments, sentence):
    need("generation")
    if content is not None:
        (tmp_path / "book.txt").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = validate(infermeter, environment_in, tmp_path, "tiny_llama@onnxruntime-genai", "tiny_llama@openvino-genai", "--text", "book.txt", *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr and "Traceback" not in done.stderr


def test_a_gguf_file_reads_texts_and_prompts_by_itself(infermeter, environment_in, gguf_file, tmp_path):
    """The same tokens as those of the folder that it was made of."""
    (tmp_path / "book.txt").write_text(SENTENCES)
    subjects = ("a=tiny_llama@onnxruntime-genai,threads=1", f"b={gguf_file()}@llama-cpp,threads=1")
    here = {"cwd": tmp_path, "env": environment_in(tmp_path), "capture_output": True, "text": True}
    done = subprocess.run([infermeter, "validate", *subjects, "--text", "book.txt", "--text-tokens", "24", "--data-limit", "2", "--format", "json"], **here)
    assert done.returncode == 0, done.stderr
    assert abs(json.loads(done.stdout)["perplexity"]["increase"]) < 1e-4
    (tmp_path / "prompts.txt").write_text("Gr\u00fc\u00dfe <s>\nzwei\n")
    done = subprocess.run([infermeter, "run", f"{gguf_file()}@llama-cpp,prompts=prompts.txt,output_tokens=4", "--threads", "1", "--iterations", "2", "--warmup", "1",
                           "--processes", "1", "--format", "json"], **here)
    assert done.returncode == 0, done.stderr
    # "Gr\u00fc\u00dfe " in bytes, and <s>.
    assert json.loads(done.stdout)["trials"][0]["executed"]["prompts"] == "file, 2 of them, 4 to 9 tokens"


def test_a_gguf_file_whose_tokenizer_is_broken_is_refused_in_a_sentence(infermeter, environment_in, gguf_file, tmp_path):
    (tmp_path / "book.txt").write_text(SENTENCES)
    broken = gguf_file(lambda content: content.replace(b"tokenizer.ggml.model", b"tokenizer.ggml.modex"))
    done = validate(infermeter, environment_in, tmp_path, f"{broken}@llama-cpp", f"{broken}@llama-cpp,threads=1", "--text", "book.txt")
    assert done.returncode == 2 and "x.gguf cannot be used: " in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_text_is_not_cut_where_the_tokenizer_would(need, built_package, folder, tmp_path):
    from infermeter.making import Job, text_tokens

    need("generation")
    truncation = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    book, file = tmp_path / "book.txt", tmp_path / "tokens.npy"
    book.write_text(SENTENCES)
    model = folder(tokenizer={"truncation": truncation}) / "config.json"
    text_tokens.make(Job("model", str(model), {"tokens": "16"}, str(book), str(file)))
    tokens = np.load(file)
    assert tokens.shape == (len(SENTENCES.encode()) // 16, 16)
    assert tokens.ravel().tolist() == list(SENTENCES.encode()[: tokens.size])


def test_tokenizers_that_differ_are_refused(need, infermeter, environment_in, folder, tmp_path):
    need("generation")
    (tmp_path / "book.txt").write_text(SENTENCES)
    begin = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    other = folder(tokenizer={"post_processor": {  # texts begin with <s>
        "type": "TemplateProcessing", "single": [begin, text], "pair": [begin, text, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [256], "tokens": ["<s>"]}},
    }})
    subjects = ("tiny_llama@onnxruntime-genai", f"{other}@openvino-genai")
    done = validate(infermeter, environment_in, tmp_path, *subjects, "--text", "book.txt", "--text-tokens", "16")
    assert done.returncode == 2 and "the tokenizers of the two models read the text differently" in done.stderr


def test_a_text_needs_a_language_model(infermeter, environment_in, tmp_path):
    (tmp_path / "book.txt").write_text(SENTENCES)
    done = validate(infermeter, environment_in, tmp_path, "mlp@onnxruntime", "mlp@openvino", "--text", "book.txt")
    assert done.returncode == 2
    assert "--text needs a language model with its tokenizer, a folder with config.json or a GGUF file, and 'mlp' is none" in done.stderr


def test_an_increase_is_of_texts(infermeter, environment_in, tmp_path):
    done = validate(infermeter, environment_in, tmp_path, "mlp@onnxruntime", "mlp@openvino", "--max-increase", "1%")
    assert done.returncode == 2 and "an increase of perplexity can only be judged of texts" in done.stderr


def test_a_gate_on_texts(need, infermeter, environment_in, tmp_path):
    """Without labels; which would take the tokens of a text for independent."""
    need("generation")
    world = {"cwd": tmp_path, "env": environment_in(tmp_path), "capture_output": True, "text": True, "check": False}
    np.save(tmp_path / "texts.npy", np.arange(64, dtype=np.int64).reshape(4, 16))
    plan = """
data = "texts.npy"
data_limit = 2
iterations = 2
processes = 1
threads = 1
options = { output = "logits" }
models = ["tiny_llama"]
backends = ["onnxruntime-genai", "openvino-genai"]
"""
    (tmp_path / "plan.toml").write_text(plan)
    (tmp_path / "gate.toml").write_text('plan = "plan.toml"\nexpect = ["kl_divergence <= 1e-6", "top1_agreement >= 0.98"]\n')
    done = subprocess.run([infermeter, "gate", "gate.toml"], **world)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("kl_divergence") >= 1, done.stdout


def test_the_increase_of_perplexity_in_a_gate_is_as_scipy_has_it(need, infermeter, environment_in, session, tmp_path):
    """From the logits that the two subjects give; their keys and values have 4 bits and 32."""
    from scipy import stats
    from scipy.special import log_softmax

    need("generation")
    texts = np.random.default_rng(1).integers(0, 256, (6, 24), dtype=np.int64)
    np.save(tmp_path / "texts.npy", texts)
    cache = {"kv_cache": "q4_0", "flash_attention": "true"}
    losses = []
    for options in ({}, cache):
        loaded = session("llama-cpp", output="logits", data_shape="1x24:int64", **options)
        scores = [log_softmax(loaded.values(loaded.bind([text[None]])())[0].astype(float), axis=1) for text in texts]
        losses.append(np.array([-np.mean([row[token] for row, token in zip(each, text[1:], strict=False)]) for each, text in zip(scores, texts, strict=True)]))
    change = losses[1] - losses[0]
    increase = np.expm1(change.mean())
    low, high = np.expm1(stats.t.interval(0.95, 5, loc=change.mean(), scale=stats.sem(change)))
    (tmp_path / "gate.toml").write_text(f"""
expect = ["perplexity_increase <= {high + 1e-4}", "perplexity_increase <= {(low + high) / 2}", "perplexity_increase > {high + 1e-4}", "accuracy >= 0"]
[plan]
subjects = ["f32=tiny_llama@llama-cpp,output=logits", "q4=tiny_llama@llama-cpp,output=logits,{','.join(f'{key}={value}' for key, value in cache.items())}"]
data = "texts.npy"
labels = "next"
iterations = 2
warmup = 0
processes = 1
threads = 1
""")
    world = {"cwd": tmp_path, "env": environment_in(tmp_path), "capture_output": True, "text": True, "check": False}
    done = subprocess.run([infermeter, "gate", "gate.toml", "--format", "json"], **world)
    assert done.returncode == 1, done.stderr
    verdicts = json.loads(done.stdout)["verdicts"]
    assert [each["outcome"] for each in verdicts] == ["pass", "inconclusive", "fail", "pass", "pass"]
    assert verdicts[0]["value"] == pytest.approx(increase, rel=1e-3) and (verdicts[0]["n"], verdicts[0]["n_of"]) == (6, "texts")
    assert [verdicts[0]["interval"][end] for end in ("low", "high")] == pytest.approx([low, high], rel=1e-3)
    report = json.loads(subprocess.run([infermeter, "report", "latest", "--format", "json"], **world).stdout)
    reported = [each["accuracy"] for each in report["subjects"]]
    assert [each["perplexity"]["value"] for each in reported] == pytest.approx(np.exp([each.mean() for each in losses]).tolist(), rel=1e-5)
    assert reported[0]["perplexity"]["increase"] is None and reported[1]["interval"] is None


@pytest.mark.parametrize("labels, subject, sentence", [
    ("", "tiny_llama@llama-cpp,output=logits", "'perplexity_increase <= 1%' needs texts as tokens, of which each next one is right"),
    ('labels = "next"', "tiny_llama@llama-cpp,output_tokens=4", "a language model gives them with output=logits"),
])
def test_gates_that_have_no_perplexity(need, infermeter, environment_in, tmp_path, labels, subject, sentence):
    need("generation")
    np.save(tmp_path / "texts.npy", np.arange(48, dtype=np.int64).reshape(2, 24))
    (tmp_path / "gate.toml").write_text(f"""
expect = ["perplexity_increase <= 1%"]
[plan]
subjects = ["a={subject}", "b={subject}"]
data = "texts.npy"
{labels}
iterations = 1
warmup = 0
processes = 1
threads = 1
""")
    done = subprocess.run([infermeter, "gate", "gate.toml"], cwd=tmp_path, env=environment_in(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr, done.stderr
