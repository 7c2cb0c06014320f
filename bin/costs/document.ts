import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The document whose tables are made here. */
export const documentPath = fileURLToPath(new URL('../../docs/costs.md', import.meta.url));

/** Puts each part between its markers. @throws Error when the document has no place for one. */
export function fillDocument(text: string, parts: Readonly<Record<string, string>>): string {
  let filled = text;
  for (const [name, part] of Object.entries(parts)) {
    const [begin, end] = [`<!-- costs: ${name} -->`, '<!-- /costs -->'];
    const from = filled.indexOf(begin);
    const to = filled.indexOf(end, from);
    if (from === -1 || to === -1) throw new Error(`docs/costs.md has no place for ${name}.`);
    filled = `${filled.slice(0, from + begin.length)}\n\n${part}\n\n${filled.slice(to)}`;
  }
  return filled;
}

export function writeDocument(parts: Readonly<Record<string, string>>): void {
  writeFileSync(documentPath, fillDocument(readFileSync(documentPath, 'utf8'), parts));
}
