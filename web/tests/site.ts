// A server of files that knows nothing of Headway, with the static site: its address is in HEADWAY_URL.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

import { repository } from "./command";

export const site = process.env.HEADWAY_SITE ?? `${repository}build/site`;

const kTypes: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

export default async function start(): Promise<() => void> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url!, "http://here").pathname));
    const file = path.endsWith("/") ? `${path}index.html` : path;
    readFile(join(site, file)).then(
      (bytes) => response.writeHead(200, { "Content-Type": kTypes[extname(file)] ?? "application/octet-stream" }).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env.HEADWAY_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return () => void server.close();
}
