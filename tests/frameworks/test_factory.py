"""MODULE:FACTORY and FILE.py:FACTORY, and the sizes of what they take."""

import sys

import pytest


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def user(tmp_path):
    """user("name.py", source) writes that file where the user is."""

    def write(name, source):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(source)
        return file

    return write


@pytest.fixture
def refused(tmp_path):
    def sentence(spec):
        from infermeter.backend import Refused
        from infermeter.factory import load_factory

        with pytest.raises(Refused) as raised:
            load_factory(spec, str(tmp_path))
        return str(raised.value)

    return sentence


def test_modules_and_files_are_found_where_the_user_is(user, tmp_path):
    from infermeter.factory import load_factory

    user("factory_package/__init__.py", "")
    user("factory_package/inner.py", "def make():\n    return 'from a package'\n")
    user("sub/neighbour_of_factory.py", "VALUE = 'from a file'\n")
    # A file that is called like a package must not take that package's place.
    user("sub/json.py", "import neighbour_of_factory\ndef make():\n    return neighbour_of_factory.VALUE\n")
    assert load_factory("factory_package.inner:make", str(tmp_path)) == "from a package"
    assert load_factory("sub/json.py:make", str(tmp_path)) == "from a file"
    assert load_factory(f"{tmp_path}/sub/json.py:make", "") == "from a file"
    assert hasattr(sys.modules["json"], "dumps")


def test_classes_of_a_file_know_their_module(user, tmp_path):
    from infermeter.factory import load_factory

    source = "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: 'int' = 1\ndef make():\n    return A()\n"
    user("with_classes.py", source)
    assert load_factory("with_classes.py:make", str(tmp_path)).x == 1


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("def make():\n    raise ValueError('no\\n  good')\n", "make raised ValueError: no good, at bad.py line 2"),
        ("def make():\n    import json\n    json.loads('{')\n", "make raised JSONDecodeError: .*, at bad.py line 3"),
        ("def make():\n    raise SystemExit\n", "factory make raised SystemExit, at bad.py line 2"),
        ("def make(size):\n    pass\n", "factory make raised TypeError: .*'size'"),
        ("def make(:\n", "importing bad.py raised SyntaxError: .*, at bad.py line 1"),
        ("import no_such_package_at_all\n", "importing bad.py raised ModuleNotFoundError: .*, at bad.py line 1"),
        ("def build(): pass\nmake = 1\n", "bad.py has no function 'make'; it has build"),
        ("from json import loads\n", "bad.py has no function 'make'; it has none"),
    ],
)
def test_what_goes_wrong_is_one_sentence(source, sentence, user, refused, capfd):
    user("bad.py", source)
    text = refused("bad.py:make")
    import re

    assert re.search(sentence, text), text
    assert "\n" not in text
    assert ("Traceback" in capfd.readouterr().err) == (" raised " in text)


def test_what_is_not_there_is_told_apart_from_what_it_lacks(user, refused, tmp_path):
    user("half_there/__init__.py", "")
    user("lacks_something.py", "import no_such_package_at_all\n")
    assert f"there is no file {tmp_path}/absent.py" in refused("absent.py:make")
    assert f"there is no module 'absent_module', neither in {tmp_path} nor" in refused("absent_module:make")
    assert "there is no module 'half_there.other'" in refused("half_there.other:make")
    assert "importing lacks_something raised ModuleNotFoundError" in refused("lacks_something:make")
    assert "'model' names no factory: give MODULE:FACTORY" in refused("model")


def test_an_interrupt_is_not_the_factorys_fault(user, tmp_path):
    from infermeter.factory import load_factory

    user("interrupted.py", "def make():\n    raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        load_factory("interrupted.py:make", str(tmp_path))


def test_sizes_come_by_place_by_name_and_from_the_batch(load_of):
    from infermeter.backend import Port
    from infermeter.ports import sized

    ports = [Port("x", "float32", ("n", 3, "height", None)), Port("y", "int64", (None,)), Port("z", "int8", None)]
    load = load_of(batch=4, dimensions={"height": "5", "x.3": "6", "y.0": "7"})
    assert [port.shape for port in sized(ports, load)] == [(4, 3, 5, 6), (7,), None]
    assert sized(ports, load_of(batch=0))[0].shape == ("n", 3, "height", None)
    assert sized(ports, load_of(batch=2, dimensions={"n": "9", "x.0": "8"}))[0].shape[0] == 8


@pytest.mark.parametrize(
    ("dimensions", "sentence"),
    [
        ({"width": "2"}, "no dynamic dimension 'width'; it has height, n"),
        ({"x.1": "2"}, "no dynamic dimension 'x.1'; it has height, n"),
        ({"height": "0"}, "dimension height=0 is not a size"),
        ({"height": "x"}, "dimension height=x is not a size"),
        ({"height": "99999999999"}, "dimension height=99999999999 is not a size"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(dimensions, sentence, load_of):
    from infermeter.backend import Port, Refused
    from infermeter.ports import sized

    with pytest.raises(Refused, match=sentence):
        sized([Port("x", "float32", ("n", 3, "height"))], load_of(dimensions=dimensions))


def test_shapes_as_text():
    from infermeter.ports import parse_input_shape

    one = parse_input_shape("1x3x224x224")
    assert [(port.name, port.dtype, port.shape) for port in one] == [("input", "float32", (1, 3, 224, 224))]
    two = parse_input_shape("4x2;5:int64")
    assert [(port.name, port.dtype, port.shape) for port in two] == [
        ("input_0", "float32", (4, 2)),
        ("input_1", "int64", (5,)),
    ]


@pytest.mark.parametrize("text", ["", "x", "1x", "0x3", "1x-3", "1x3;", "1x3:", "1x3:flaot32", "1,3", "99999999999"])
def test_shapes_that_cannot_be_read_are_refused(text):
    from infermeter.backend import Refused
    from infermeter.ports import parse_input_shape

    with pytest.raises(Refused, match="cannot be read at .*give sizes with x between them"):
        parse_input_shape(text)


def axes_at(**by_name):
    return lambda ports: [by_name.get(port.name) for port in ports]


def test_the_batch_of_a_written_shape(load_of):
    from infermeter.backend import Refused
    from infermeter.ports import ports_of_input_shape

    def shapes(text, **load):
        return [port.shape for port in ports_of_input_shape(text, load_of(**load))]

    assert shapes("1x3x32x32", batch=8) == [(8, 3, 32, 32)]
    assert shapes("8x3x32x32;1x2", batch=8) == [(8, 3, 32, 32), (8, 2)]
    assert shapes("50x1x40", batch=8, batch_axes=axes_at(input=1)) == [(50, 8, 40)]
    assert shapes("48x64", batch=1, batch_axes=axes_at()) == [(48, 64)]
    with pytest.raises(Refused, match="gives input 'input' 8 items .* batch size is 1: give --batch-sizes 8"):
        shapes("8x3x32x32", batch=1)
    with pytest.raises(Refused, match="no dynamic dimension 'height'"):
        shapes("1x3", batch=1, dimensions={"height": "3"})


def test_sizes_at_the_batch_axis_that_the_host_says(load_of):
    from infermeter.backend import Port
    from infermeter.ports import sized

    ports = [Port("x", "float32", ("seq", "batch", 40)), Port("h", "float32", ("batch",)), Port("s", "float32", ())]
    load = load_of(batch=4, dimensions={"seq": "7"}, batch_axes=axes_at(x=1, h=0))
    assert [port.shape for port in sized(ports, load)] == [(7, 4, 40), (4,), ()]
