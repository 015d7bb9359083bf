// One `headway serve` for all tests, on a free port; its address is in HEADWAY_URL. Where that is set
// already, the tests go to the server that runs there.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { binary, repository } from "./command";

export default async function start(): Promise<() => void> {
  if (process.env.HEADWAY_URL) return () => {};
  const server = spawn(binary, ["serve", "--port", "0"], { cwd: repository, stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise<string>((resolve, reject) => {
    server.on("error", reject);
    server.on("exit", (code) => reject(new Error(`headway serve ended with ${code}`)));
    createInterface({ input: server.stdout }).on("line", (line) => {
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(line);
      if (found) resolve(found[0]);
    });
  });
  process.env.HEADWAY_URL = address;
  return () => {
    server.removeAllListeners("exit");
    server.kill("SIGINT");
  };
}
