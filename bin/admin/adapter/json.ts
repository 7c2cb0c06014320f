/** JSON of a stranger's, whose objects may name a member twice, which the language's parser passes over. */
export function parseJson(bytes: Buffer): { value: unknown; repeated: string | null } | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return { value, repeated: isObject(value) ? firstRepeated(outerNames(text)) : null };
  } catch {
    return null;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstRepeated(names: string[]): string | null {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size) ?? null;
}

/** The names of the outer object's members, in which no value is a string, in a text that was parsed already. */
function outerNames(text: string): string[] {
  const names: string[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') depth -= 1;
    if (character !== '"') continue;
    const start = at;
    for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
    if (depth === 1) names.push(JSON.parse(text.slice(start, at + 1)) as string);
  }
  return names;
}
