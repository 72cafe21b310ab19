"""The back end openai with llama.cpp's own server."""

import json

import pytest

ASKED = "prompt_tokens=4,output_tokens=6"
SHORT = ["--processes", "1", "--warmup", "1", "--quiet", "--format", "json"]


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_an_answer_is_timed_and_counted(run, llama_server, api):
    """Far more requests than libcurl sends again: the server closes a connection after each stream without a word."""
    done = run("run", f"tiny_llama@openai,url={llama_server},api={api},force_length=true,{ASKED}", "--iterations", 20, *SHORT)
    assert done.returncode == 0, done.stderr
    trial = json.loads(done.stdout)["trials"][0]
    executed, generation = trial["executed"], trial["generation"]
    assert (executed["provider"], executed["api"], executed["tokens_counted_by"]) == ("llamacpp", api, "server")
    assert (executed["finish_reason"], generation["answers"], generation["output_tokens"]) == ("length", 20, 120)
    # It keeps bytes back until they are a whole letter: an answer has fewer pieces than tokens.
    assert 20 < generation["parts"] <= 120 and generation["prompt_tokens"] > 20 * 4
    found = {counter["name"]: counter["value"] for counter in trial["counters"]}
    assert found["output_tokens_mean"] == 6 and found["ttft_p50"] > 0 and found["tpot_p50"] > 0


def test_a_load_counts_the_requests_that_are_good(run, llama_server):
    done = run("load", f"tiny_llama@openai,url={llama_server},force_length=true,{ASKED}", "--concurrency", 3, "--iterations", 15,
               "--seed", 1, "--goodput", "ttft<=60s", "tpot<=60s", *SHORT)
    assert done.returncode in (0, 1), done.stderr  # 15 requests are too few for a percentile
    (trial,) = json.loads(done.stdout)["trials"]
    # Weights are random: without a forced length the answer to some prompts is no token, which has no TTFT that could be good.
    assert trial["load"]["errors"] == [] and trial["load"]["good"] == trial["load"]["completed"] == 15


def test_an_answer_in_one_piece_is_the_stream_s(run, llama_server):
    subject = f"tiny_llama@openai,url={llama_server},api=completions,{ASKED}"
    done = run("validate", f"streamed={subject}", f"whole={subject},stream=false", "--data-limit", 2, "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("model, options, sentence", [
    ("tiny_llama", "prompt_tokens=70,output_tokens=200,force_length=true", " tokens, not the 200 that force_length=true asks for (prompt of "),
    ("tiny_llama", "prompt_tokens=2000", "exceeds the available context size (512 tokens)"),
    ("tiny_lama", ASKED, 'the server has no model "tiny_lama"; it has "another-name"'),
])
def test_what_it_refuses_is_told(run, llama_server, model, options, sentence):
    done = run("run", f"{model}@openai,url={llama_server},{options}", "--iterations", 2, *SHORT)
    assert done.returncode == 3
    assert sentence in json.loads(done.stdout)["trials"][0]["message"]
