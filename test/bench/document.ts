import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const documentPath = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));

/** Puts each part between its markers. @throws Error when the document has no place for one. */
export function fillDocument(text: string, parts: Readonly<Record<string, string>>): string {
  let filled = text;
  for (const [name, part] of Object.entries(parts)) {
    const [begin, end] = [`<!-- bench: ${name} -->`, '<!-- /bench -->'];
    const from = filled.indexOf(begin);
    const to = filled.indexOf(end, from);
    if (from === -1 || to === -1) throw new Error(`docs/performance.md has no place for ${name}.`);
    filled = `${filled.slice(0, from + begin.length)}\n\n${part}\n\n${filled.slice(to)}`;
  }
  return filled;
}

/** As Prettier would have it. */
export async function writeDocument(parts: Readonly<Record<string, string>>): Promise<void> {
  const { format, resolveConfig } = await import('prettier');
  const text = fillDocument(readFileSync(documentPath, 'utf8'), parts);
  const options = { ...(await resolveConfig(documentPath)), filepath: documentPath };
  writeFileSync(documentPath, await format(text, options));
}
