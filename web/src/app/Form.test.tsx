import { renderToString } from "preact-render-to-string";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Form } from "./Form";

beforeEach(() => void vi.stubGlobal("fetch", () => Promise.reject(new Error("no server"))));
afterEach(() => void vi.unstubAllGlobals());

test("beside a number that is refused stand the legal ones next to it, as the engine names them", () => {
  const wrong = { where: "global-batch", message: "1030 sequences are not a multiple of 64" };
  const html = (near?: readonly number[]) =>
    renderToString(
      <Form
        command="predict"
        groups={[{ title: "Run", fields: [{ name: "global-batch", label: "Global batch", kind: "number" }] }]}
        fields={{ "global-batch": "1030" }}
        problems={[near ? { ...wrong, near } : wrong]}
        onChange={() => {}}
      />,
    );
  expect(html([1024, 1088]).match(/Take [\d,]+/g)).toEqual(["Take 1,024", "Take 1,088"]);
  expect(html()).not.toContain("Take");
});
