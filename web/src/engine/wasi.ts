// The little of WASI (preview 1) that the engine asks for: files that are only read, under one folder, and a
// clock. What is not here answers that there is no such thing.

/** Bytes that lie somewhere, of which pieces are read. */
export interface Bytes {
  readonly size: number;
  read(from: number, to: number): Uint8Array;
}

const kOk = 0;
const kBadFile = 8;
const kNotThere = 44;
const kNoSuchThing = 52;
const kRoot = 3; // the file descriptor of "/"
const kOfFile = 4; // types of files
const kOfFolder = 3;

interface OpenFile {
  readonly bytes: Bytes;
  at: number;
}

type Call = (...given: never[]) => number;
type Memory = () => ArrayBuffer;

/** Imports of a module under "wasi_snapshot_preview1", with the files that are there now. `memory` is asked each
 * time: it is another one when it has grown. `say` is told what the engine says of its own fall. */
export function wasiOf(memory: Memory, files: ReadonlyMap<string, Bytes>, say: (text: string) => void): Record<string, Call> {
  const open = new Map<number, OpenFile>();
  const view = () => new DataView(memory());
  const textAt = (at: number, length: number) => new TextDecoder().decode(new Uint8Array(memory(), at, length));
  const isFolder = (path: string) => path === "" || [...files.keys()].some((each) => each.startsWith(`${path}/`));
  // Each of the pieces of memory that an array of (address, length) names.
  const pieces = (list: number, count: number) =>
    Array.from({ length: count }, (_, i) => {
      const at = view().getUint32(list + 8 * i, true);
      return new Uint8Array(memory(), at, view().getUint32(list + 8 * i + 4, true));
    });
  const writeStat = (at: number, type: number, size: number) => {
    new Uint8Array(memory(), at, 64).fill(0);
    view().setUint8(at + 16, type);
    view().setBigUint64(at + 32, BigInt(size), true);
  };

  return {
    args_sizes_get: (count: number, bytes: number) => {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return kOk;
    },
    args_get: () => kOk,
    environ_sizes_get: (count: number, bytes: number) => {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return kOk;
    },
    environ_get: () => kOk,
    clock_time_get: (_clock: number, _precision: bigint, out: number) => {
      view().setBigUint64(out, BigInt(Math.round(performance.now() * 1e6)), true);
      return kOk;
    },
    fd_prestat_get: (fd: number, out: number) => {
      if (fd !== kRoot) return kBadFile;
      view().setUint32(out, 0, true);
      view().setUint32(out + 4, 1, true);
      return kOk;
    },
    fd_prestat_dir_name: (fd: number, out: number) => {
      if (fd !== kRoot) return kBadFile;
      view().setUint8(out, "/".charCodeAt(0));
      return kOk;
    },
    fd_fdstat_get: (fd: number, out: number) => {
      if (fd !== kRoot && !open.has(fd)) return kBadFile;
      new Uint8Array(memory(), out, 24).fill(0);
      view().setUint8(out, fd === kRoot ? kOfFolder : kOfFile);
      view().setBigUint64(out + 8, ~0n & 0xffff_ffff_ffff_ffffn, true); // all rights, and to hand them on
      view().setBigUint64(out + 16, ~0n & 0xffff_ffff_ffff_ffffn, true);
      return kOk;
    },
    path_open: (
      folder: number,
      _flags: number,
      path: number,
      length: number,
      _how: number,
      _rights: bigint,
      _handed: bigint,
      _fdFlags: number,
      out: number,
    ) => {
      const bytes = folder === kRoot ? files.get(textAt(path, length)) : undefined;
      if (!bytes) return kNotThere;
      let fd = kRoot + 1;
      while (open.has(fd)) fd += 1;
      open.set(fd, { bytes, at: 0 });
      view().setUint32(out, fd, true);
      return kOk;
    },
    path_filestat_get: (folder: number, _flags: number, path: number, length: number, out: number) => {
      const name = textAt(path, length);
      const bytes = folder === kRoot ? files.get(name) : undefined;
      if (!bytes && !isFolder(name)) return kNotThere;
      writeStat(out, bytes ? kOfFile : kOfFolder, bytes?.size ?? 0);
      return kOk;
    },
    fd_filestat_get: (fd: number, out: number) => {
      const file = open.get(fd);
      if (!file) return kBadFile;
      writeStat(out, kOfFile, file.bytes.size);
      return kOk;
    },
    fd_read: (fd: number, list: number, count: number, out: number) => {
      const file = open.get(fd);
      if (!file) return kBadFile;
      let total = 0;
      for (const piece of pieces(list, count)) {
        const end = Math.min(file.bytes.size, file.at + piece.length);
        if (end === file.at) break;
        piece.set(file.bytes.read(file.at, end));
        total += end - file.at;
        file.at = end;
      }
      view().setUint32(out, total, true);
      return kOk;
    },
    fd_seek: (fd: number, offset: bigint, whence: number, out: number) => {
      const file = open.get(fd);
      if (!file) return kBadFile;
      file.at = Math.max(0, Number(offset) + [0, file.at, file.bytes.size][whence]!);
      view().setBigUint64(out, BigInt(file.at), true);
      return kOk;
    },
    fd_close: (fd: number) => (open.delete(fd) ? kOk : kBadFile),
    // What the run-time says before it falls.
    fd_write: (fd: number, list: number, count: number, out: number) => {
      if (fd !== 1 && fd !== 2) return kBadFile;
      const said = pieces(list, count);
      for (const piece of said) say(new TextDecoder().decode(piece.slice()));
      view().setUint32(
        out,
        said.reduce((sum, piece) => sum + piece.length, 0),
        true,
      );
      return kOk;
    },
    random_get: (at: number, length: number) => {
      crypto.getRandomValues(new Uint8Array(memory(), at, length));
      return kOk;
    },
    proc_exit: (code: number): number => {
      throw new Error(`the engine ended with ${code}`);
    },
  } as Record<string, Call>;
}

/** The same for all that a module imports: what is not here says that there is no such thing. */
export function completed(module: WebAssembly.Module, known: Record<string, Call>): Record<string, Call> {
  const out = { ...known };
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    if (from === "wasi_snapshot_preview1") out[name] ??= () => kNoSuchThing;
  }
  return out;
}
