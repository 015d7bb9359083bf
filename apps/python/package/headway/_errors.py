"""What is wrong with a request."""
from __future__ import annotations

from typing import NamedTuple, Sequence, Tuple


class Problem(NamedTuple):
    """One thing that is wrong."""

    path: str  # the argument, or a member of it ("cluster.levels"), or a file and its line
    message: str  # what is wrong there, and what would be right
    near: Tuple[int, ...] = ()  # legal numbers next to the one that was given

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class RequestError(ValueError):
    """A request that cannot be answered, with everything that is wrong with it."""

    problems: Tuple[Problem, ...]

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> Tuple[type, Tuple[Tuple[Problem, ...]]]:
        return type(self), (self.problems,)
