"""Results are values: they do not change, compare, travel between processes and show themselves."""
import copy
import json
import pathlib
import pickle

import headway as hw
import pytest

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


def test_attributes_have_the_names_of_the_document(run):
    step = hw.predict(**run)
    document = json.loads(step.to_json())
    assert step.step_time_s == document["step_time_s"]
    assert step.mfu == document["mfu"]
    assert step.fits is True
    assert step.memory_bytes.total == document["memory_bytes"]["total"]
    assert step["parts_s"]["compute"] == step.parts_s.compute
    assert sum(step.parts_s.values()) == pytest.approx(step.step_time_s, rel=1e-12)
    assert step.to_dict() == document


def test_results_do_not_change(run):
    step = hw.predict(**run)
    for change in (lambda: setattr(step, "mfu", 1), lambda: delattr(step, "mfu"),
                   lambda: setattr(step.parts_s, "compute", 0)):
        with pytest.raises(AttributeError):
            change()
    with pytest.raises(TypeError):
        step.calls[0] = None


@pytest.mark.parametrize("ask", [
    lambda run: hw.predict(**run), lambda run: hw.plan(**run, top=2), lambda run: hw.list("clusters")])
def test_what_was_pickled_or_copied_is_equal(run, ask):
    found = ask(run)
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert other == found and hash(other) == hash(found) and type(other) is type(found)
        assert other.request == found.request and other.exit_code == found.exit_code
    assert found != hw.predict(**run, tp=4)


def test_a_run_that_does_not_fit_says_so_and_what_would(run):
    step = hw.predict(**{**run, "model": "llama-3.1-70b", "gpus": 8}, tp=1)
    assert not step.fits and step.exit_code == 1
    assert any("would fit with" in note or "no layout" in note for note in step.notes)


def test_frames_have_a_row_for_each_layout(run):
    pandas = pytest.importorskip("pandas")
    best = hw.plan(**run, top=3)
    frame = best.to_frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(best.best) == 3
    assert frame["step_time_s"].is_monotonic_increasing
    assert hw.predict(**run).to_frame()["parts_s.compute"][0] > 0
    assert len(hw.predict(**run).calls.to_frame()) == len(hw.predict(**run).calls)


def test_notebooks_show_tables_and_drawings(run):
    assert "step_time_s" in hw.predict(**run)._repr_html_()
    served = hw.infer(model="llama-3.1-8b", cluster="dgx-h100", tp=1, input_len=500, output_len=50, batch=4)
    assert served.drawings() == {}  # one way to serve is not drawn
    assert "ttft_s" in served._repr_html_()
    shown = hw.plan(**run)._repr_html_()
    assert "<svg" in shown and "<?xml" not in shown and shown.count("<table") >= 1


def test_models_and_clusters_are_names_files_or_described(run, tmp_path):
    cluster = {"base": "dgx-h100", "accelerator": {"base": "h100-sxm", "memory_bandwidth": "2.0 TB/s"}}
    slower = hw.predict(**{**run, "cluster": cluster})
    assert slower.step_time_s > hw.predict(**run).step_time_s
    own = EXAMPLES / "own-model.toml"
    by_file = hw.predict(**{**run, "model": own})
    assert by_file.parameters == hw.predict(**{**run, "model": str(own)}).parameters
    config = tmp_path / "config.json"
    described = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 1024,
                 "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 4,
                 "intermediate_size": 2816, "vocab_size": 32000, "max_position_embeddings": 4096}
    config.write_text(json.dumps(described))
    assert (hw.predict(**{**run, "model": described}).parameters ==
            hw.predict(**{**run, "model": config}).parameters)


def test_every_problem_is_told_at_its_argument(run):
    with pytest.raises(hw.RequestError) as refused:
        hw.predict(**{**run, "model": "lama-3.1-8b"}, tp="x", sequence=1)
    by_path = {problem.path: problem.message for problem in refused.value.problems}
    assert set(by_path) == {"model", "tp", "sequence"}
    assert "llama-3.1-8b" in by_path["model"]
    assert pickle.loads(pickle.dumps(refused.value)).problems == refused.value.problems
    with pytest.raises(hw.RequestError, match="is missing"):
        hw.predict(model="llama-3.1-8b")
    with pytest.raises(hw.RequestError, match="no such file|cannot be"):
        hw.predict("/nowhere/run.toml")
    with pytest.raises(hw.RequestError, match="twice"):
        hw.list("models", what="clusters")


def test_numbers_may_be_numpys(run):
    numpy = pytest.importorskip("numpy")
    fields = {**run, "gpus": numpy.int64(16), "seq": numpy.int32(4096)}
    assert hw.predict(**fields) == hw.predict(**run)
