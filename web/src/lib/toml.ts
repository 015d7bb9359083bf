// TOML of a description: the form in which Headway's own models, clusters and settings are written.

type Table = Readonly<Record<string, unknown>>;

const isTable = (value: unknown): value is Table => typeof value === "object" && value !== null && !Array.isArray(value);
const isTables = (value: unknown): value is readonly Table[] => Array.isArray(value) && value.length > 0 && value.every(isTable);

function key(name: string): string {
  return /^[\w-]+$/.test(name) ? name : text(name);
}

// A basic string of TOML has the escapes of one of JSON, and none but those for control characters.
function text(value: string): string {
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
}

function valueText(value: unknown): string {
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (isTable(value)) return `{${Object.entries(value).map(([name, each]) => `${key(name)} = ${valueText(each)}`).join(", ")}}`;
  // 1e+21 is a number there as here; a whole one beyond 64 bit would be none.
  if (typeof value === "number") return Number.isSafeInteger(value) || !Number.isInteger(value) ? String(value) : value.toExponential();
  return String(value);
}

function lines(table: Table, path: readonly string[]): string[] {
  const entries = Object.entries(table).filter(([, value]) => value !== null && value !== undefined); // TOML has no null
  const plain = entries.filter(([, value]) => !isTable(value) && !isTables(value));
  const out = plain.map(([name, value]) => `${key(name)} = ${valueText(value)}`);
  for (const [name, value] of entries) {
    const below = [...path, key(name)];
    if (isTable(value)) out.push("", `[${below.join(".")}]`, ...lines(value, below));
    else if (isTables(value)) for (const each of value) out.push("", `[[${below.join(".")}]]`, ...lines(each, below));
  }
  return out;
}

/** A document of these members. */
export function tomlText(members: Table): string {
  return `${lines(members, []).join("\n").replace(/^\n+/, "")}\n`;
}
