import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { openApiDocument } from '../shared/openapi/document.ts';

const documentPath = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));

/** The text of `docs/openapi.json`. */
export async function documentText(): Promise<string> {
  const text = JSON.stringify(openApiDocument());
  return format(text, { ...(await resolveConfig(documentPath)), filepath: documentPath });
}

/** `npm run openapi`: compares, or writes. @returns the exit code. */
async function main(args: string[]): Promise<number> {
  if (args.some((arg) => arg !== '--write')) {
    console.error('Usage: npm run openapi [-- --write]');
    return 2;
  }
  const expected = await documentText();
  if (args.includes('--write')) {
    writeFileSync(documentPath, expected);
    console.log('docs/openapi.json is written.');
    return 0;
  }
  if (readFileSync(documentPath, 'utf8') === expected) {
    console.log('docs/openapi.json is what the code says.');
    return 0;
  }
  console.error('docs/openapi.json is not what the code says. Run: npm run openapi -- --write');
  return 1;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
