import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Results } from './results.ts';

export const documentPath = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));
export const jsonPath = fileURLToPath(new URL('../../docs/performance.json', import.meta.url));

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
export async function writeDocument(
  parts: Readonly<Record<string, string>>,
  results?: Results,
): Promise<void> {
  await writeFormatted(documentPath, fillDocument(readFileSync(documentPath, 'utf8'), parts));
  if (results) await writeFormatted(jsonPath, JSON.stringify(results, null, 2));
}

async function writeFormatted(path: string, text: string): Promise<void> {
  const { format, resolveConfig } = await import('prettier');
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
}
