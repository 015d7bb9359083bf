import { afterEach, describe, expect, test, vi } from "vitest";

import { ask, askLong, lines, Refusal } from "./api";

function streamOf(...pieces: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      controller.close();
    },
  });
}

function answering(response: Response): void {
  vi.stubGlobal("fetch", async () => response);
}

afterEach(() => vi.unstubAllGlobals());

const refusal = async (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("was not refused"),
    (error: Refusal) => error.problems,
  );

test("lines are whole wherever the network cuts them, letters of several bytes too", async () => {
  const bytes = new TextEncoder().encode('{"a":"\u00e4"}\n{"b":2}\n\n{"c":3}');
  const pieces = Array.from(bytes, (byte) => new Uint8Array([byte]));
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      pieces.forEach((piece) => controller.enqueue(piece));
      controller.close();
    },
  });
  const out: string[] = [];
  for await (const line of lines(stream)) out.push(line);
  expect(out).toEqual(['{"a":"\u00e4"}', '{"b":2}', '{"c":3}']);
});

describe("one document", () => {
  test("comes with the exit code of the command line", async () => {
    answering(new Response('{"best":[]}', { headers: { "Headway-Exit": "1" } }));
    expect(await ask("plan", {})).toEqual({ document: { best: [] }, exit: 1 });
  });

  test("every problem of a refusal is told", async () => {
    const problems = [
      { where: "tp", message: "3 does not divide 64" },
      { where: "", message: "and more" },
    ];
    answering(new Response(JSON.stringify({ problems }), { status: 400 }));
    expect(await refusal(ask("predict", {}))).toEqual(problems);
  });

  test("an answer that is nothing but problems tells them", async () => {
    const problems = [{ where: "mtbf", message: "no checkpoint is reached" }];
    answering(new Response(JSON.stringify({ problems }), { headers: { "Headway-Exit": "1" } }));
    expect(await refusal(ask("scale", {}))).toEqual(problems);
  });

  test("an answer that is no document is a problem with its status", async () => {
    answering(new Response("<html>", { status: 502 }));
    expect((await refusal(ask("predict", {})))[0]!.message).toContain("502");
  });

  test("a server that is gone is said to be", async () => {
    vi.stubGlobal("fetch", async () => {
      throw new TypeError("failed");
    });
    expect((await refusal(ask("predict", {})))[0]!.message).toContain("does not answer");
  });
});

describe("long work", () => {
  test("tells its progress, then its result", async () => {
    answering(
      new Response(
        streamOf('{"progress":{"done":1,"of":4,"what":"cells"}}\n{"prog', 'ress":{"done":4,"of":4,"what":"cells"}}\n{"result":{"x":1},"exit":0}\n'),
      ),
    );
    const done: number[] = [];
    expect(await askLong("plan", {}, (progress) => done.push(progress.done))).toEqual({ document: { x: 1 }, exit: 0 });
    expect(done).toEqual([1, 4]);
  });

  test("what is known first is told before the whole", async () => {
    answering(new Response(streamOf('{"first":{"x":1}}\n{"result":{"x":1,"y":2},"exit":0}\n')));
    const first: unknown[] = [];
    const whole = await askLong("plan", {}, () => {}, undefined, (document) => first.push(document));
    expect(first).toEqual([{ x: 1 }]);
    expect(whole.document).toEqual({ x: 1, y: 2 });
  });

  test("problems at its end are told", async () => {
    answering(new Response(streamOf('{"problems":[{"where":"gpus","message":"not 7"}]}\n')));
    expect(await refusal(askLong("plan", {}, () => {}))).toEqual([{ where: "gpus", message: "not 7" }]);
  });

  test("an answer that ends too early is a problem", async () => {
    answering(new Response(streamOf('{"progress":{"done":1,"of":4,"what":"cells"}}\n')));
    expect((await refusal(askLong("plan", {}, () => {})))[0]!.message).toContain("before its result");
  });
});
