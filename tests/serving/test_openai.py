"""Language models on servers: the back end openai with a server whose times are known, and with one that does what none should."""

import hashlib
import json

import pytest
from bad_completions import STREAMS, BadCompletions
from known_times_server import KnownTimesServer

SHORT = ["--processes", "1", "--warmup", "1", "--quiet", "--format", "json"]
TTFT, GAP, TOKENS = 0.03, 0.004, 6
EXACT = 1 - 1e-3  # of what a histogram keeps


@pytest.fixture(scope="module")
def known():
    with KnownTimesServer(TTFT, GAP) as server:
        yield server


@pytest.fixture(scope="module")
def bad():
    with BadCompletions() as server:
        yield server


@pytest.fixture
def measure(run):
    """measure("run", "steady@openai,url=…") -> the CompletedProcess, the report (None where there is none)."""

    def call(verb, *arguments):
        done = run(verb, *arguments, *SHORT)
        assert "Traceback" not in done.stderr and "\x1b" not in done.stderr + done.stdout
        return done, json.loads(done.stdout) if done.stdout else None

    return call


def counters(record):
    return {counter["name"]: counter["value"] for counter in record["trials"][0]["counters"]}


# --- a server whose times are known


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_figures_of_one_request_after_the_other(measure, known, api):
    done, record = measure("run", f"steady@openai,url={known.url},api={api},output_tokens={TOKENS}", "--iterations", "10")
    assert done.returncode == 0, done.stderr
    found = counters(record)
    assert found["ttft_p50"] >= TTFT * EXACT and found["ttft_p90"] >= found["ttft_p50"]
    assert found["output_tokens_mean"] == TOKENS and found["prompt_tokens_mean"] == 128
    assert "ttft_p99" not in found, "ten requests have no p99"
    trial = record["trials"][0]
    assert all(time >= TTFT + GAP * (TOKENS - 1) for time in trial["samples"]["latency_s"])
    assert trial["generation"]["parts"] == trial["generation"]["output_tokens"] == 10 * TOKENS
    executed = trial["executed"]
    assert (executed["provider"], executed["api"], executed["tokens_counted_by"]) == ("known-times", api, "server")
    assert executed["finish_reason"] == "length"
    assert not [each for each in trial["diagnostics"] if each["id"] == "parts_not_tokens"]


def test_a_server_that_closes_what_it_said_it_keeps(measure, bad):
    """A request is sent again when the connection is found closed, however often."""
    done, record = measure("run", f"closes@openai,url={bad.url}", "--iterations", "40")
    assert done.returncode == 0 and record["trials"][0]["iterations"] == 40, done.stderr


def test_prompts_are_unlike_and_the_first_is_everybodys(measure):
    asked = []
    for _ in range(2):
        with KnownTimesServer(0, 0) as server:
            done, _ = measure("run", f"steady@openai,url={server.url},output_tokens=2,prompt_tokens=40,shared_prefix=10",
                              "--iterations", "30")
            assert done.returncode == 0, done.stderr
            prompts = server.prompts()
            assert len(set(prompts)) == len(prompts) >= 32
            assert {len(prompt.split()) for prompt in prompts} == {40}
            assert len({tuple(prompt.split()[:10]) for prompt in prompts}) == 1
            assert len({tuple(prompt.split()[10:20]) for prompt in prompts}) == len(prompts)
            asked.append(prompts)
    assert asked[0][0] == asked[1][0]
    assert not set(asked[0][1:]) & set(asked[1][1:]), "what one process asked a cache may answer the next"


def test_a_seed_gives_the_same_prompts_again(measure):
    asked = []
    for _ in range(2):
        with KnownTimesServer(0, 0) as server:
            measure("run", f"steady@openai,url={server.url},output_tokens=2,seed=7", "--iterations", "5")
            asked.append(server.prompts())
    assert asked[0] == asked[1]


def test_lengths_are_drawn_for_each_request(measure):
    with KnownTimesServer(0, 0) as server:
        done, record = measure("run", f"steady@openai,url={server.url},prompt_tokens=normal:20:6,output_tokens=uniform:2:9,shared_prefix=8",
                               "--iterations", "60")
        assert done.returncode == 0, done.stderr
        words, answers = [len(prompt.split()) for prompt in server.prompts()], [each["max_tokens"] for each in server.requests]
    assert (words[0], answers[0]) == (20, 5), "the first has the mean of both"
    assert min(words[1:]) >= 8 and len(set(words)) > 8 and set(answers) == set(range(2, 10))
    executed = record["trials"][0]["executed"]
    assert (executed["prompts"], executed["max_tokens"]) == ("synthetic, normal:20:6 words, 8 of them shared", "uniform:2:9")
    generation = record["trials"][0]["generation"]
    assert (generation["prompt_tokens"], generation["output_tokens"]) == (sum(words[-60:]), sum(answers[-60:]))
    gaps = {times["first"]: times["count"] for times in generation["itl_by_position"]}
    assert gaps == {position: sum(length > position for length in answers[-60:]) for position in range(1, 9)}
    prompts = [times["tokens_mean"] * times["count"] for times in generation["ttft_by_prompt"]]
    assert len(prompts) > 4 and sum(prompts) == pytest.approx(sum(words[-60:]))


AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
    f"2023-11-16 18:15:46.{i:02}80590,{10 + i},{1 + i}\n" for i in range(8))
MOONCAKE = "".join(
    json.dumps({"timestamp": 10 * i, "input_length": 10 + i, "output_length": 1 + i, "hash_ids": [i]}) + "\n" for i in range(8))


@pytest.mark.parametrize("name, text", [("azure.csv", AZURE), ("mooncake.jsonl", MOONCAKE)])
def test_recorded_arrivals_say_lengths(run, measure, name, text):
    (run.folder / name).write_text(text)
    with KnownTimesServer(0, 0) as server:
        done, record = measure("load", f"steady@openai,url={server.url},output_tokens=99", "--arrivals", name, "--concurrency", "1")
        assert done.returncode == 0, done.stderr
        asked = list(zip((len(prompt.split()) for prompt in server.prompts()), (each["max_tokens"] for each in server.requests), strict=True))
    # Before and after the load the first prompt is asked.
    assert [each for each in asked if each != (128, 99)] == [(10 + i, 1 + i) for i in range(8)]
    trial = record["trials"][0]
    assert trial["executed"]["lengths"] == "of the arrivals" and trial["load"]["completed"] == trial["load"]["due"] == 8
    assert (trial["generation"]["prompt_tokens"], trial["generation"]["output_tokens"]) == (8 * 10 + 28, 8 + 28)


@pytest.mark.parametrize("subject, why", [
    ("mlp@fake", "this back end takes no lengths"),
    ("steady@openai,url={url},output_tokens=2,prompts=prompts.txt", "the prompts are those of a file or of the data"),
])
def test_lengths_that_are_not_taken_are_a_note(run, measure, known, subject, why):
    (run.folder / "trace.csv").write_text(AZURE)
    (run.folder / "prompts.txt").write_text("one\ntwo\n")
    done, record = measure("load", subject.format(url=known.url), "--arrivals", "trace.csv")
    assert done.returncode == 0, done.stderr
    trial = record["trials"][0]
    said = [each["message"] for each in trial["diagnostics"] if each["id"] == "trace_lengths_not_taken"]
    assert said == [f"the arrivals say how long prompts and answers are, and {why}: their times alone are used"]
    assert trial["load"]["completed"] == 8 and "lengths" not in trial["executed"]


def test_a_trace_that_is_wrong_is_refused_with_its_line(run, known):
    (run.folder / "trace.jsonl").write_text(MOONCAKE + '{"timestamp": 90}\n')
    done = run("load", f"steady@openai,url={known.url}", "--arrivals", "trace.jsonl", "--processes", "1", "--quiet")
    assert done.returncode == 2 and "'trace.jsonl': line 9: the lengths of prompt and answer are no numbers of tokens" in done.stderr


def test_prompts_that_are_replaced_before_a_run_is_resumed_end_it(run, run_slowly, known):
    (run.folder / "p.txt").write_text("one\ntwo\nthree\n")
    arguments = ("run", f"steady@openai,url={known.url},output_tokens=2,prompts=p.txt", "--processes", 4, "--iterations", 10, "--warmup", 0)
    with run_slowly(*arguments) as running:
        running.wait_for("[2/4]")
        running.process.kill()
        running.process.wait()
    (run.folder / "p.txt").write_text("one\ntwo\nfour\n")
    done = run(*arguments, "--resume")
    assert done.returncode == 2 and "what is measured changed during the run (prompts_sha256" in done.stderr, done.stderr


@pytest.mark.parametrize("name, text", [
    ("prompts.txt", "first of all\n\nsecond\nthird\nfourth\n"),
    ("sharegpt.json", json.dumps([{"conversations": [{"from": "human", "value": text}, {"from": "gpt", "value": "yes"}]}
                                  for text in ("first of all", "second", "third", "fourth")] + [{"conversations": []}])),
])
def test_prompts_may_come_from_a_file(run, measure, name, text):
    (run.folder / name).write_text(text)
    with KnownTimesServer(0, 0) as server:
        done, record = measure("run", f"steady@openai,url={server.url},output_tokens=2,prompts={name}", "--iterations", "5")
        assert done.returncode == 0, done.stderr
        prompts = server.prompts()
    assert prompts[0] == "first of all"
    assert set(prompts[1:4]) == {"second", "third", "fourth"} and prompts[4:7] == prompts[1:4]
    trial = record["trials"][0]
    executed = trial["executed"]
    assert executed["prompts"] == "file, 4 of them" + (", 1 entries without one left out" if name.endswith("json") else "")
    assert executed["prompts_sha256"] == hashlib.sha256(text.encode()).hexdigest()
    said = [each["message"] for each in trial["diagnostics"] if each["id"] == "prompts_repeat"]
    assert said == ["6 requests asked, and 4 prompts in the file: the same were asked again"]


def test_a_file_of_prompts_is_no_plan_files_to_give_away(run, known):
    (run.folder / "plan.toml").write_text('[options]\nprompts = "secret.txt"\n')
    (run.folder / "secret.txt").write_text("mine\n")
    short = ["run", f"steady@openai,url={known.url},output_tokens=2", "--plan", "plan.toml", "--processes", "1", "--iterations", "1",
             "--warmup", "0", "--quiet"]
    done = run(*short)
    assert done.returncode == 2 and "names a file of prompts for a server, 'prompts=secret.txt'" in done.stderr, done.stderr
    assert run(*short, "--allow-code").returncode == 0


@pytest.mark.parametrize("name, text, why", [
    ("none.txt", None, "the file cannot be read: No such file or directory"),
    (".", None, "it is not a regular file"),
    ("empty.txt", "\n\n", "there is no prompt in it"),
    ("bad.jsonl", '{"prompt": "a"}\n{"prompt": 7}\n', "bad.jsonl: line 2 has a prompt that is not a text"),
    ("lengths.txt,prompt_tokens=5", "a", "the prompts are those of a file: leave prompt_tokens out"),
])
def test_a_file_that_holds_no_prompts_is_refused(run, known, name, text, why):
    if text is not None:
        (run.folder / name.partition(",")[0]).write_text(text)
    done = run("run", f"steady@openai,url={known.url},prompts={name}", "--processes", "1", "--iterations", "1", "--quiet")
    assert done.returncode == 2 and why in done.stderr, done.stderr


def test_requests_say_what_was_asked_for(measure):
    with KnownTimesServer(0, 0) as server:
        measure("run", f"steady@openai,url={server.url},output_tokens=3,force_length=true", "--iterations", "1")
        request = server.requests[-1]
    assert {key: request[key] for key in ("model", "max_tokens", "min_tokens", "ignore_eos", "temperature", "stream")} == \
        {"model": "steady", "max_tokens": 3, "min_tokens": 3, "ignore_eos": True, "temperature": 0, "stream": True}


@pytest.mark.parametrize("model, tokens, parts, by", [
    ("pairs", 6, 3, "server"), ("uncounted", 6, 6, "pieces of the stream"), ("tools", 6, 6, "server")])
def test_a_piece_is_not_a_token(measure, known, model, tokens, parts, by):
    done, record = measure("run", f"{model}@openai,url={known.url},output_tokens={tokens}", "--iterations", "4")
    assert done.returncode == 0, done.stderr
    trial = record["trials"][0]
    assert counters(record)["output_tokens_mean"] == tokens
    assert trial["generation"]["parts"] == 4 * parts and trial["executed"]["tokens_counted_by"] == by
    said = [each["message"] for each in trial["diagnostics"] if each["id"] == "parts_not_tokens"]
    assert said == (["answers of 24 tokens came in 12 pieces: itl is the time between pieces, not tokens"] if model == "pairs" else [])


def test_an_answer_in_one_piece_has_tokens_and_no_first_one(measure, known):
    done, record = measure("run", f"steady@openai,url={known.url},output_tokens=4,stream=false", "--iterations", "3")
    assert done.returncode == 0, done.stderr
    found = counters(record)
    assert found["output_tokens_mean"] == 4 and found["output_tokens_rate"] > 0
    assert not [name for name in found if name.startswith(("ttft", "tpot", "itl"))]


def test_a_load_counts_first_tokens_from_arrivals(measure):
    """One client, and requests that all come at once: each waits for those before it, and so does its first token."""
    with KnownTimesServer(0.01, 0) as server:
        done, record = measure("load", f"steady@openai,url={server.url},output_tokens=2", "--arrivals", "burst:8", "--rate", "1000",
                               "--requests", "8", "--concurrency", "1", "--goodput", "ttft<=45ms", "response <= 1h")
    assert done.returncode == 0, done.stderr
    trial = record["trials"][0]
    found = counters(record)
    assert trial["load"]["completed"] == 8 and found["ttft_p50"] >= 0.04 * EXACT
    assert found["service_p50"] >= 0.01 * EXACT
    assert trial["load"]["good"] <= 4 and found["goodput_share"] == trial["load"]["good"] / 8
    assert record["subjects"][0]["load"]["figures"]["goodput"]["unit"] == "1/s"


def test_several_requests_are_in_flight(measure, known):
    done, record = measure("load", f"steady@openai,url={known.url},output_tokens=4", "--concurrency", "8", "--requests", "40",
                           "--goodput", "ttft<=1h")
    assert done.returncode == 0, done.stderr
    trial = record["trials"][0]
    assert trial["load"]["completed"] == trial["load"]["good"] == trial["generation"]["answers"] == 40
    assert trial["load"]["checked"] == 0, "texts may part under load"


def test_reports_compare_and_gate_know_the_figures(run, known):
    subject = f"steady@openai,url={known.url},output_tokens=3"
    shown = run("run", subject, "--processes", 2, "--iterations", 4, "--warmup", 0, "--quiet")
    assert shown.returncode == 0 and "TTFT p50" in shown.stdout and "Tokens per second" in shown.stdout, shown.stdout
    compared = run("compare", f"a={subject}", f"b={subject}", "--metric", "ttft_p50", "--max-pairs", "6", "--all-pairs",
                   "--iterations", "3", "--warmup", "0", "--quiet", "--format", "json")
    assert compared.returncode == 0, compared.stderr
    assert json.loads(compared.stdout)["plan"]["question"]["metric"] == "ttft_p50"
    refused = run("compare", f"a={subject}", f"b={subject}", "--metric", "goodput", "--concurrency", "2")
    assert refused.returncode == 2 and "--load goodput='ttft<=200ms'" in refused.stderr


def test_gates_hold_the_figures(run, known):
    plan = f'[[subjects]]\nmodel = "steady"\nbackend = "openai"\noptions = {{url = "{known.url}", output_tokens = 3}}\n'
    (run.folder / "gate.toml").write_text('expect = ["ttft_p50 <= 1h", "tpot_p50 <= 1h", "output_tokens_mean >= 3"]\n' + plan)
    done = run("gate", "gate.toml", "--allow-code", "--processes", "2", "--iterations", "3", "--warmup", "0", "--quiet")
    assert done.returncode in (0, 2), done.stdout + done.stderr


def test_texts_are_validated(run, known):
    done = run("validate", f"a=steady@openai,url={known.url},output_tokens=3", f"b=steady@openai,url={known.url},output_tokens=3")
    assert done.returncode == 0, done.stdout + done.stderr
    done = run("validate", f"a=steady@openai,url={known.url},output_tokens=3", f"b=steady@openai,url={known.url},output_tokens=4")
    assert done.returncode != 0, done.stdout


def test_prompts_may_be_data(measure):
    with KnownTimesServer(0, 0) as server:
        done, record = measure("run", f"steady@openai,url={server.url},output_tokens=2,prompts=data", "--iterations", "3")
        assert done.returncode == 0, done.stderr
        assert len(set(server.prompts())) == 1 and record["trials"][0]["input_digest"]


# --- what servers do


@pytest.mark.parametrize("model", [name for name in STREAMS if name.startswith("good")])
def test_what_is_right_is_measured(measure, bad, model):
    done, record = measure("run", f"{model}@openai,url={bad.url}", "--iterations", "2")
    assert done.returncode == 0, done.stderr
    generation = record["trials"][0]["generation"]
    assert generation["answers"] == 2 and generation["parts"] == (0 if model == "good_no_content" else 4)


FAULTS = {
    "status400": 'status 400; it said "max_tokens is too large \\u001b[31mred\\nyyy',
    "status401": 'status 401; it said "no key"',
    "status503": 'status 503; it said "loading"',
    "status500": 'status 500; it said "broken"',
    "error_in_the_middle": 'the server broke its answer off; it said "out of blocks \\u001b[31mred\\n"',
    "vllm_error": 'the server broke its answer off; it said "engine died"',
    "ends_in_the_middle": "the server's stream ended before its answer did",
    "ends_in_an_event": "is not the JSON that it should be",
    "empty_stream": "is not a stream of events",
    "only_comments": "is not a stream of events",
    "no_stream": 'is not a stream of events; it begins with "<html>\\u001b[31mred\\n</html>"; stream=false',
    "no_json": 'is not the JSON that it should be; it begins with "{\\u001b[31mred"',
    "deep": "is nested too deeply",
    "choices_no_list": "its choices are no list",
    "content_no_text": "its content is not a text",
    "usage_no_number": "its completion_tokens is not a number of tokens",
    "usage_too_large": "its completion_tokens is not a number of tokens",
    "long_event": "has an event of more than 1048576 bytes",
    "endless": "sends more than 1310720 bytes",
    "endless_comments": "sends more than 1310720 bytes",
    "half": "closed the connection in the middle of its answer",
}


@pytest.mark.parametrize("model", FAULTS)
def test_what_a_server_does_wrong_is_one_sentence(measure, bad, model):
    done, record = measure("run", f"{model}@openai,url={bad.url}", "--iterations", "2")
    assert done.returncode == 3, done.stderr
    message = record["trials"][0]["message"]
    assert FAULTS[model] in message and len(message) < 700
    assert message.isascii() or "…" in message


@pytest.mark.parametrize("model, why", [("no_choices", "it has no choices"), ("error_with_200", 'it said "not today \\u001b[31mred\\n"')])
def test_an_answer_in_one_piece_that_is_wrong(measure, bad, model, why):
    done, record = measure("run", f"{model}@openai,url={bad.url},stream=false", "--iterations", "2")
    assert done.returncode == 3 and why in record["trials"][0]["message"]


def test_a_stream_that_stalls(measure, bad):
    done, record = measure("run", f"stalls@openai,url={bad.url},timeout=0.3", "--iterations", "2")
    assert done.returncode == 3
    assert "did not answer within 0.3 s; timeout=SECONDS sets another limit" in record["trials"][0]["message"]


def test_a_model_that_the_server_does_not_list(measure):
    with BadCompletions(models=["good", "\x1b[2J"]) as server:
        done, record = measure("run", f"other@openai,url={server.url}", "--iterations", "2")
    assert done.returncode == 3
    assert record["trials"][0]["message"] == 'the server has no model "other"; it has "good", "\\u001b[2J"'


def test_requests_that_fail_under_load_are_counted(measure):
    with BadCompletions() as server:
        done, record = measure("load", f"every_tenth_fails@openai,url={server.url}", "--concurrency", "1", "--requests", "40",
                               "--goodput", "response<=1h")
    assert done.returncode == 0, done.stderr
    load = record["trials"][0]["load"]
    assert load["failed"] == 4 and load["good"] == 36 and "status 503" in load["errors"][0][0]
    assert load["error_kinds"] == [["5xx", 4]]


@pytest.mark.parametrize("arguments, why", [
    (["load", "good@openai,url={url},stream=false", "--concurrency", "1", "--requests", "2", "--goodput", "ttft<=1s"],
     "answers did not come piece by piece"),
    (["load", "good@openai,url={url}", "--concurrency", "1", "--goodput", "itl<=1s"], "expected 'ttft<=200ms'"),
    (["load", "good@openai,url={url}", "--concurrency", "1", "--goodput", "ttft<=1s", "ttft<=2s"], "ttft is bounded twice"),
    (["run", "good@openai,url={url},prompt_tokens=5,shared_prefix=6"], "cannot share shared_prefix=6"),
    (["run", "good@openai,url={url},api=responses"], "give api=chat|completions"),
    (["run", "good@openai,url={url},output_tokens=0"], "it must be 1 to 1000000"),
    (["run", "good@openai,url={url},prompt_tokens=gamma:5:2"],
     "openai cannot use prompt_tokens=gamma:5:2; give prompt_tokens=N|uniform:LOW:HIGH|normal:MEAN:SD (words of"),
    (["run", "good@openai,url={url},output_tokens=uniform:9:9"], "output_tokens=uniform:9:9: LOW must be below HIGH; give"),
    (["run", "good@openai,url={url},output_tokens=normal:9:0"], "output_tokens=normal:9:0: it must be 1 to 1000000; give"),
    (["run", "good@openai,url={url},prompt_tokens=normal:9:5,shared_prefix=10"],
     "a prompt of prompt_tokens=normal:9:5 cannot share shared_prefix=10"),
    (["run", "good@openai,url={url},prompts=data,output_tokens=normal:9:5"], "prompts=data asks for answers of one length"),
])
def test_what_cannot_be_asked_is_refused(run, bad, arguments, why):
    done = run(*[each.format(url=bad.url) for each in arguments], "--processes", "1", "--quiet")
    assert done.returncode == 2 and why in done.stderr + done.stdout, done.stderr + done.stdout
