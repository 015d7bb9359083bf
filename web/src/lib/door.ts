// Who answers: the server that this page came from, or an engine in the page itself where it came from a server of
// files alone (a static site says so in its document: scripts/build-site).
import { engineAt, type Ask } from "../engine/engine";

const address = typeof document === "undefined" ? undefined : document.documentElement.dataset.engine;

/** Whether nobody else answers. */
export const isAlone = address !== undefined;

/** Who reads files of the reader's own: they go no further. */
export const kReader = isAlone ? "This page" : "The server on this machine";

/** As fetch() asks for "api/…". */
export const door: Ask = address === undefined ? (path, init) => fetch(path, init) : engineAt(address);
