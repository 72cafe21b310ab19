"""`infermeter compare` end to end on the fake back end: what it answers, how it stops, what it refuses; and its kin:
leak trials, doctor --aa, pilots."""

import glob
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter

import pytest

pytestmark = pytest.mark.alone  # verdicts on times

# Process spread gives differences of their own to the pairs, so that nothing is decided by a constant.
A = "a=mlp@fake,latency=normal:200us:2us,process_spread=0.005"
B_SLOWER = "b=mlp@fake,latency=normal:260us:2us,process_spread=0.005"
B_SAME = "b=mlp@fake,latency=normal:200us:2us,process_spread=0.005"
SHORT = ("--iterations", 10, "--warmup", 3)
LOOKS = [8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40]


def compared(run, *arguments, code=0):
    done = run("compare", *arguments, "--format", "json", "--quiet")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_a_slower_candidate_is_found_and_the_comparison_ends(run):
    record = compared(run, A, B_SLOWER, *SHORT)
    answer = record["comparison"]["primary"][0]
    assert answer["direction"] == "slower" and record["comparison"]["resolved"]
    assert 0.1 < answer["estimate"] < 0.5 and answer["interval"]["low"] > 0
    # After 8 pairs on a quiet machine, some looks later on a busy one.
    assert answer["pairs"] == record["comparison"]["pairs"] < record["plan"]["processes"] == 40
    assert [look["pairs"] for look in answer["looks"]] == [look for look in LOOKS if look <= answer["pairs"]]
    assert len(record["trials"]) == 2 * answer["pairs"] and record["finished"]
    assert {trial["purpose"] for trial in record["trials"]} == {"timed"}


def test_each_comparison_tosses_its_own_coins(run):
    short = (A, B_SAME, *SHORT, "--max-pairs", 6, "--all-pairs")
    one, other = compared(run, *short), compared(run, *short)
    assert one["plan"]["seed"] != other["plan"]["seed"]
    again = compared(run, *short, "--seed", one["plan"]["seed"])
    assert again["plan"]["order"] == one["plan"]["order"]
    assert {trial["input_digest"] for record in (one, other) for trial in record["trials"]} == {one["trials"][0]["input_digest"]}


def test_the_answer_is_a_sentence_and_comes_first(run):
    done = run("compare", A, B_SLOWER, *SHORT)
    text = " ".join(done.stdout.split())
    assert "b is " in text and "% slower than a on mlp at batch size 1" in text
    assert re.search(r"decided after \d+ pairs", text) and "outputs agree" in text
    assert done.stdout.index("ANSWERS") < done.stdout.index("Latency p50")
    assert "doctor --aa 20" in text
    assert "pair 8: b " in done.stderr and "next check after 8 pairs" in done.stderr
    assert run("report").stdout == done.stdout


def test_exit_codes_say_what_was_asked_to_fail(run):
    assert run("compare", A, B_SLOWER, *SHORT, "--fail-slower").returncode == 1
    assert run("compare", B_SLOWER, A, *SHORT, "--fail-slower").returncode == 0
    # Six pairs cannot reach a p of 0.1 %, whatever the load of the machine does to them.
    undecided = ("compare", A, B_SAME, *SHORT, "--max-pairs", 6, "--margin", "0.01%", "--alpha", "0.1%")
    assert run(*undecided).returncode == 0
    assert run(*undecided, "--fail-inconclusive").returncode == 5


def test_equal_subjects_are_called_equal_within_the_margin(run):
    record = compared(run, A, B_SAME, *SHORT, "--margin", "20%")
    assert record["comparison"]["primary"][0]["direction"] in ("equivalent", "faster", "slower")
    assert abs(record["comparison"]["primary"][0]["estimate"]) < 0.1
    assert record["comparison"]["pairs"] <= 32


def test_what_answers_something_else_is_said_first(run):
    done = run("compare", A, B_SLOWER.replace("260us", "100us") + ",outputs=ones", *SHORT)
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert text.index("the outputs of b differ from those of a") < text.index("b is ")


def test_several_candidates_are_compared_with_the_first(run):
    record = compared(run, A, B_SLOWER, "c=mlp@fake,latency=normal:100us:1us,process_spread=0.005", *SHORT)
    assert [answer["direction"] for answer in record["comparison"]["primary"]] == ["slower", "faster"]
    assert [answer["candidate"] for answer in record["comparison"]["primary"]] == [1, 2]


def test_until_resolved_looks_after_every_pair(run):
    record = compared(run, A, B_SLOWER, *SHORT, "--until-resolved")
    looks = record["comparison"]["primary"][0]["looks"]
    assert [look["pairs"] for look in looks] == list(range(3, looks[-1]["pairs"] + 1))
    assert looks[-1]["direction"] == "slower" and record["plan"]["processes"] == 200


def test_all_pairs_looks_once(run):
    record = compared(run, A, B_SLOWER, *SHORT, "--all-pairs", "--max-pairs", 12)
    assert [look["pairs"] for look in record["comparison"]["primary"][0]["looks"]] == [12]


def test_a_budget_ends_the_pairs_and_the_last_look_spends_what_is_left(run):
    slow = [A.replace("200us", "5ms"), B_SAME.replace("200us", "5ms")]  # a pair takes 130 ms at least
    record = compared(run, *slow, *SHORT, "--budget", "3s", "--margin", 0)
    assert 2 <= record["comparison"]["pairs"] < 40
    looks = record["comparison"]["primary"][0]["looks"]
    if looks and looks[-1]["direction"] == "unresolved":
        assert looks[-1]["pairs"] == record["comparison"]["pairs"]


def test_memory_decides_where_that_is_asked(run):
    record = compared(run, "mlp@fake", "big=mlp@fake,memory=50MB", *SHORT, "--metric", "peak_memory", "--until-resolved")
    answer = record["comparison"]["primary"][0]
    assert answer["metric"] == "memory_peak" and answer["direction"] == "slower"


def test_pilots_choose_warmup_and_iterations(run):
    record = compared(run, A, B_SLOWER)
    pilots = [trial for trial in record["side_trials"] if trial["purpose"] == "pilot"]
    short = [pilot for pilot in pilots if pilot["warmup_samples"]["begin_s"]]
    long = Counter(pilot["subject"] for pilot in pilots if pilot not in short)  # another one where the first is unsteady
    assert len(pilots) == 10 and all(1 <= long[subject] <= 3 for subject in (0, 1)), long
    assert {pilot["iterations"] for pilot in short} == {20}
    counts = {trial["iterations"] for trial in record["trials"]}
    assert len(counts) == 1 and 10 <= counts.pop() <= 200
    warmups = {len(trial["warmup_samples"]["begin_s"]) for trial in record["trials"]}
    assert len(warmups) == 1 and warmups.pop() >= 3


def test_a_run_has_one_pilot_for_each_subject(run):
    done = run("run", "mlp@fake,latency=constant:200us", "--processes", "3", "--format", "json")
    record = json.loads(done.stdout)
    assert len(record["side_trials"]) in (1, 2, 3) and len(record["trials"]) == 3
    assert {trial["iterations"] for trial in record["trials"]} == {299}
    assert "[pilot 1/1] mlp@fake" in done.stderr


def test_a_pilot_finds_where_warm_up_ends(run):
    done = run("run", "mlp@fake,latency=normal:100us:1us,drift=ramp:5:1:60", "--format", "json", "--quiet")
    warmups = {len(trial["warmup_samples"]["begin_s"]) for trial in json.loads(done.stdout)["trials"]}
    assert len(warmups) == 1 and 30 <= warmups.pop() <= 200


def test_the_same_question_from_a_plan_file(run):
    (run.folder / "plan.toml").write_text(
        f'subjects = ["{A}", "{B_SLOWER}"]\ncompare = true\nmargin = "2%"\nmax_pairs = 16\niterations = 10\nwarmup = 3\n')
    record = json.loads(run("run", "--plan", "plan.toml", "--format", "json", "--quiet").stdout)
    assert record["plan"]["question"]["margin"] == 0.02
    assert record["comparison"]["primary"][0]["direction"] == "slower"


def test_one_subject_with_two_libraries_is_two(run):
    library = glob.glob(os.path.join(sys.prefix, "lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so*"))[0]
    os.symlink(library, run.folder / "new.so")
    text = run("compare", "mlp@onnxruntime", "--a-backend-library", library, "--b-backend-library", "new.so",
               "--dry-run").stdout
    assert "2 subjects" in text and "new.so" in text and "asked: is latency_p50 different by more than 1 %?" in text


@pytest.mark.parametrize("arguments, said", [
    ((A,), "a comparison needs at least two subjects, got only 'a'"),
    ((A, B_SAME, "--margin", "100%"), "a margin of 1 cannot be"),
    ((A, B_SAME, "--margin", "1x"), "--margin: expected a share such as 1% or 0.01, got '1x'"),
    ((A, B_SAME, "--alpha", "0"), "an alpha of 0 cannot be"),
    ((A, B_SAME, "--alpha", "60%"), "an alpha of 0.6 cannot be"),
    ((A, B_SAME, "--metric", "p55"), "there is no metric 'p55' (did you mean 'p50'?)"),
    ((A, B_SAME, "--metric", "latency_max"), "there is no metric 'latency_max'"),
    ((A, B_SAME, "--max-pairs", "5"), "--max-pairs"),
    ((A, B_SAME, "--budget", "0"), "--budget"),
    ((A, B_SAME, "--all-pairs", "--until-resolved"), "exclude each other"),
    ((A, B_SAME, "c=mlp@fake", "--b-backend-library", "x.so"), "want one or two subjects, got 3"),
    ((A, B_SAME.replace("mlp@fake", "mlp@fake,batch=2")), "inputs of shape (1, 3, 8, 8)"),
    ((A, B_SAME, "--processes", "3"), "unknown flag '--processes'"),
])
def test_bad_questions_are_refused_in_a_sentence(run, arguments, said):
    done = run("compare", *arguments, "--quiet")
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_metric_that_was_not_measured_cannot_decide(run):
    done = run("compare", "a=mlp@onnxruntime", "b=mlp@onnxruntime", *SHORT, "--metric", "compile_time")
    assert done.returncode == 0
    text = " ".join(done.stdout.split())
    assert "there is no whole pair" in text and "pairs_incomplete" in text and "3 pairs of at most 40" in text


def test_a_candidate_that_crashes_ends_the_comparison(run):
    done = run("compare", A, B_SAME + ",crash=run:1", *SHORT)
    assert done.returncode == 4 and "b did not finish" in " ".join(done.stdout.split())


def test_an_interrupted_comparison_is_finished_by_resume(run, infermeter, environment):
    slow = [A.replace("200us", "2ms"), B_SLOWER.replace("260us", "2.6ms")]
    process = subprocess.Popen([str(infermeter), "compare", *slow, "--iterations", "30", "--warmup", "3"],
                               env=environment, cwd=run.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "pair 2:" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "--resume" in err
    done = run("run", "--resume", "--format", "json", "--quiet")
    record = json.loads(done.stdout)
    assert done.returncode == 0 and record["comparison"]["primary"][0]["direction"] == "slower"
    assert [trial["position"] for trial in record["trials"]] == list(range(len(record["trials"])))


def test_a_leak_is_found_and_an_arena_is_not(run):
    done = run("run", "mlp@fake", "--leak-iterations", 2000, *SHORT, "--processes", 2)
    assert "mlp@fake does not leak" in " ".join(done.stdout.split())
    done = run("run", "mlp@fake,memory_per_run=10kB", "--leak-iterations", 2000, *SHORT, "--processes", 2, "--format",
               "json")
    leak = json.loads(done.stdout)["subjects"][0]["leak"]
    assert leak["verdict"] == "leak" and 9_000 < leak["bytes_per_iteration"] < 13_000
    assert leak["interval"]["low"] <= leak["bytes_per_iteration"] <= leak["interval"]["high"]


def test_a_comparison_of_a_program_with_itself_is_quoted_later(run):
    done = run("doctor", "--aa", 8, "--aa-subject", "mlp@fake,latency=normal:200us:2us,process_spread=0.01")
    assert done.returncode == 0, done.stderr
    assert "compared with itself, 8 pairs" in done.stdout and "20 pairs show a difference of" in done.stdout
    text = " ".join(run("compare", A, B_SLOWER, *SHORT).stdout.split())
    assert "this machine's own noise: mlp@fake" in text and "8 pairs" in text
    noise = json.loads(run("doctor", "--aa", 8, "--aa-subject", "mlp@fake", "--format", "json").stdout)["self_comparison"]
    assert noise["pairs"] == 8 and set(noise["minimum_effect"]) == {"8", "20", "40"}


def test_the_doctor_refuses_too_few_pairs(run):
    done = run("doctor", "--aa", 3)
    assert done.returncode == 2 and "from 8 to 10000 pairs" in done.stderr
