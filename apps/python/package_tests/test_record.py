"""headway.record of the wheel is the one that `headway record` has."""
import pathlib
import subprocess
import sys

import headway.record

HERE = pathlib.Path(__file__).parents[1]


def test_the_recorder_is_the_programs_own():
    installed = pathlib.Path(headway.record.__file__).parent
    own = HERE / "library" / "headway" / "record"
    assert {p.name: p.read_bytes() for p in own.glob("*.py")} == {
        p.name: p.read_bytes() for p in installed.glob("*.py")}


def test_a_block_is_recorded_from_its_beginning_to_its_end(tmp_path):
    sys.path.insert(0, str(HERE / "tests"))
    script = (f"import sys; sys.path.insert(0, {str(HERE / 'tests')!r})\n"
              "import headway as hw\n"
              f"with hw.record({str(tmp_path / 'out')!r}):\n"
              "    hw.record.step()\n")
    subprocess.run([sys.executable, "-c", script], check=True)
