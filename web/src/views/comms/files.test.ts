import { expect, test } from "vitest";

import { namesOf, withMore } from "./files";

const file = (name: string, size: number, lastModified = 1) => ({ name, size, lastModified });

test("files of one name from different folders stand beside each other, told by number", () => {
  const both = withMore([file("trace.json", 10)], [file("trace.json", 11), file("log.txt", 3)]);
  expect(namesOf(both)).toEqual(["trace.json (1)", "trace.json (2)", "log.txt"]);
  expect(namesOf(withMore([file("trace.json", 10)], [file("trace.json", 10, 2)]))).toHaveLength(2);
});

test("a file that is chosen again stands there once", () => {
  const again = withMore([file("a.json", 10), file("b.json", 5)], [file("a.json", 10)]);
  expect(namesOf(again)).toEqual(["b.json", "a.json"]);
});
