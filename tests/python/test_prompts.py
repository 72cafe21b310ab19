"""Lengths and files of prompts in Python are those of the back end openai (tests/serving/openai_test.cpp has the same numbers and sentences)."""

import json

import pytest


@pytest.fixture
def prompts(im):
    from infermeter import prompts

    return prompts


def test_lengths_are_the_same_everywhere(prompts):
    def drawn(text, stream):
        return [prompts.Lengths.parse(text).drawn(7, number, stream, 1, 10**6) for number in range(1, 7)]

    assert drawn("normal:256:64", 1) == [214, 333, 353, 233, 262, 208]
    assert drawn("normal:256:64", 2) == [299, 249, 278, 200, 266, 264]
    assert drawn("uniform:16:64", 1) == [51, 39, 60, 61, 57, 63]
    assert prompts.order_of(7, 8) == [1, 3, 5, 4, 6, 7, 2]
    assert prompts.order_of(7, 1) == [0]


@pytest.mark.parametrize("text", ["", "0", "1.5", "1000001", "normal", "normal:", "normal:256", "normal:256:0", "normal:0:1",
                                  "normal:1:2:3", "normal:-1:2", "uniform:5:5", "uniform:6:5", "uniform:0:5", "uniform:1:1000001",
                                  "gamma:2:2", "zeros", ":1:2", "uniform:1:0x2", "\u0663"])
def test_lengths_that_are_none(prompts, text):
    with pytest.raises(ValueError):
        prompts.Lengths.parse(text)


def test_means_and_bounds(prompts):
    uniform, normal = prompts.Lengths.parse("uniform:16:65"), prompts.Lengths.parse("normal:256:64")
    assert (uniform.mean, uniform.most, normal.mean, normal.most) == (40, 65, 256, 256 + 17 * 64)
    assert normal.drawn(7, 1, 1, 300, 10**6) == 300 and normal.drawn(7, 1, 1, 1, 100) == 100


GOOD = '{"prompt": "a"}'
ENTRIES = [
    {"prompt": "a", "messages": 3},
    {"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "b"}, {"role": "assistant", "content": "x"},
                  {"role": "user", "content": "y"}]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]}]},
    {"id": "1", "conversations": [{"from": "gpt", "value": "x"}, {"from": "human", "value": "e"}]},
    {"conversations": []}, {"prompt": ""},
]


@pytest.mark.parametrize("text", [json.dumps(ENTRIES), "\ufeff" + "\n".join(map(json.dumps, ENTRIES)), json.dumps(ENTRIES, indent=1) + "\n\n"])
def test_objects_are_what_is_asked_first(prompts, tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    file = prompts.PromptFile(str(tmp_path / "x.json"))
    assert [text for _, text in file.prompts] == ["a", "be brief\n\nb", "c\nd", "e"] and file.left_out == 2


def test_lines_are_texts(prompts, tmp_path):
    (tmp_path / "x.txt").write_bytes(b'one\r\n\n  \n {"prompt": 2}\nl\xc3\xa9on')
    file = prompts.PromptFile(str(tmp_path / "x.txt"))
    assert file.prompts == [("line 1", "one"), ("line 4", ' {"prompt": 2}'), ("line 5", "l\xe9on")]


@pytest.mark.parametrize("text, sentence", [
    ("", "there is no prompt in it"),
    ("[]", "there is no prompt in it"),
    (GOOD + '\n{"prompt"', 'line 2 is not the JSON that it should be; it begins with "{\\"prompt\\""'),
    (GOOD + "\n[]", "line 2 contains no object"),
    (f"[{GOOD}, 3]", "entry 2 contains no object"),
    (f"[{GOOD}", "what stands behind entry 1 is not the JSON that it should be"),
    (f"[{GOOD} {GOOD}]", "what stands behind entry 1 is not the JSON that it should be"),
    (f"[{GOOD}, ]", "what stands behind entry 1 is not the JSON that it should be"),
    (f"[{GOOD}] x", "what stands behind entry 1 is not the JSON that it should be"),
    ('{"text": "a"}', "line 1 has neither prompt nor messages nor conversations"),
    ('{"prompt": ["a"]}', "line 1 has a prompt that is not a text"),
    ('{"prompt": "\\ud800"}', "line 1 is not UTF-8"),
    ('{"messages": "a"}', "line 1 has messages that are no list"),
    ('{"messages": [{"role": "user"}]}', "line 1 has a message without role or content"),
    ('{"conversations": [7]}', "line 1 has a message without from or value"),
    ('{"messages": [{"role": "user", "content": 7}]}', "line 1 has a message without a text"),
    ('{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}', "line 1 has a message with a part that is not a text"),
    ('{"prompt": ' + "[" * 100000, "line 1 is nested too deeply"),
    ('[{"prompt": ' + "[" * 100000, "entry 1 is nested too deeply"),
])
def test_what_is_none_is_refused_with_its_place(prompts, tmp_path, text, sentence):
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(ValueError) as raised:
        prompts.PromptFile(str(tmp_path / "x.jsonl"))
    assert str(raised.value) == sentence


def test_files_that_cannot_be_read(prompts, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"a\n\xff")
    for name, sentence in (("none.txt", "the file cannot be read: No such file or directory"), (".", "it is not a regular file"),
                           ("bad.txt", "line 2 is not UTF-8")):
        with pytest.raises(ValueError) as raised:
            prompts.PromptFile(str(tmp_path / name))
        assert str(raised.value) == sentence
