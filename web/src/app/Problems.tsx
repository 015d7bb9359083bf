// Problems that belong to no field on the page, in a list that is read out.
import type { Problem } from "../lib/api";
import { lost, tryAgain } from "../lib/server";

export function Problems({ problems, shown = [] }: { problems: readonly Problem[]; shown?: readonly string[] }) {
  const beside = problems.filter((problem) => shown.includes(problem.where));
  const rest = problems.filter((problem) => !shown.includes(problem.where));
  if (problems.length === 0) return <div role="alert" />;
  return (
    <div role="alert" class="problems">
      <strong>{problems.length === 1 ? "One thing is wrong:" : `${problems.length} things are wrong:`}</strong>
      <ul>
        {rest.map((problem) => (
          <li key={problem.where + problem.message}>
            {problem.where && <code>{problem.where}</code>} {problem.message}
          </li>
        ))}
        {beside.map((problem) => (
          <li key={problem.where + problem.message}>
            <code>{problem.where}</code> {problem.message}
          </li>
        ))}
      </ul>
      {lost.value && (
        <button type="button" onClick={() => void tryAgain()}>
          Try again
        </button>
      )}
    </div>
  );
}
