"""The same request gives the same bytes as on the command line."""
import pathlib

import headway as hw
import pytest
from conftest import flags

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("more", [
    {}, {"tp": 2}, {"tp": 4, "pp": 2, "micro_batch": 1}, {"recompute": "full"}, {"zero": 3}, {"ops": True},
    {"gpus": 8, "seq": 32768}, {"framework": "fsdp"}])
def test_predict_gives_the_bytes_of_the_command_line(run, program, more):
    fields = {**run, **more}
    assert hw.predict(**fields).to_json().encode() == program("predict", *flags(fields), "--json")


@pytest.mark.parametrize("command, words, fields", [
    ("plan", [], {"top": 2}), ("plan", [], {"objective": "memory", "threads": 2}),
    ("comms", [], {"tp": 2}), ("scale", ["strong"], {"at": "16,32"}), ("scale", ["run"], {"tokens": "1T"}),
    ("simulate", [], {"tp": 2})])
def test_commands_of_a_run_give_the_bytes_of_the_command_line(run, program, command, words, fields):
    fields = {**run, **fields}
    found = getattr(hw, command)(*words, **fields).to_json().encode()
    assert found == program(command, *words, *flags(fields), "--json")


@pytest.mark.parametrize("command, words, fields", [
    ("limits", [], {"gpu": "h100-sxm"}), ("validate", [], {"by": "source"}), ("list", ["models"], {}),
    ("bench", [], {"signature": True}),
    ("infer", [], {"model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 1, "input_len": 512, "output_len": 128, "batch": 8})])
def test_other_commands_give_the_bytes_of_the_command_line(program, command, words, fields):
    found = getattr(hw, command)(*words, **fields).to_json().encode()
    assert found == program(command, *words, *flags(fields), "--json")


def test_files_are_read_as_on_the_command_line(program):
    path = str(EXAMPLES / "llama-3-70b-h100.toml")
    assert hw.predict(path).to_json().encode() == program("predict", path, "--json")
    trace = str(EXAMPLES / "ddp-rank0.json")
    assert hw.comms(trace).to_json().encode() == program("comms", trace, "--json")


def test_print_shows_what_a_terminal_shows(run, program):
    assert str(hw.predict(**run)).encode() == program("predict", *flags(run))
