// Trace files as a list: ranks may have written files of one name into folders of their own.

type Named = Pick<File, "name" | "size" | "lastModified">;

const isSame = (a: Named, b: Named) => a.name === b.name && a.size === b.size && a.lastModified === b.lastModified;

/** The files with more of them. One that is chosen again, as it was, stands there once; another of the same name beside it. */
export function withMore<F extends Named>(files: readonly F[], more: readonly F[]): F[] {
  return [...files.filter((file) => !more.some((each) => isSame(each, file))), ...more];
}

/** What each goes by: its name, with its number among those of the same name. */
export function namesOf(files: readonly Named[]): string[] {
  return files.map(({ name }, i) => {
    if (files.every((each, j) => j === i || each.name !== name)) return name;
    return `${name} (${files.slice(0, i + 1).filter((each) => each.name === name).length})`;
  });
}
