import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { typesOf } from '../client/generate-types.ts';
import { openApiDocument } from '../shared/openapi/document.ts';
import { basePath } from '../shared/routes.ts';

const root = new URL('..', import.meta.url);

/**
 * What is made of the API's document and checked in, by path: the document itself and the client's types. A served
 * document names its server relative to itself. A file has no such place, so it names the one of `npm start`.
 */
export async function generatedFiles(): Promise<Record<string, string>> {
  const servers = [{ url: `http://127.0.0.1:4600${basePath}`, description: 'A local service: npm start.' }];
  const document = { ...openApiDocument(), servers };
  const types = `/* Made by \`npm run openapi -- --write\`. Do not edit. */\n${await typesOf(document)}`;
  return {
    'docs/openapi.json': await formatted('docs/openapi.json', JSON.stringify(document)),
    'client/src/openapi.ts': await formatted('client/src/openapi.ts', types),
  };
}

async function formatted(path: string, text: string): Promise<string> {
  const filepath = fileURLToPath(new URL(path, root));
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}

/** @returns the paths of files that are not what the document says. */
export async function driftedFiles(expected: Record<string, string>): Promise<string[]> {
  const drifted: string[] = [];
  for (const [path, text] of Object.entries(expected)) {
    const found = await readFile(new URL(path, root), 'utf8').catch(() => null);
    if (found !== text) drifted.push(path);
  }
  return drifted;
}

/** `npm run openapi`: compares, or writes. @returns the exit code. */
async function main(args: string[]): Promise<number> {
  if (args.some((arg) => arg !== '--write')) {
    console.error('Usage: npm run openapi [-- --write]');
    return 2;
  }
  const expected = await generatedFiles();
  const drifted = await driftedFiles(expected);
  if (drifted.length === 0) {
    console.log('docs/openapi.json and the client’s types are what the code says.');
    return 0;
  }
  if (args.includes('--write')) {
    for (const path of drifted) await writeFile(new URL(path, root), expected[path]!);
    console.log(`Written: ${drifted.join(', ')}.`);
    return 0;
  }
  console.error(`Not what the code says: ${drifted.join(', ')}. Run: npm run openapi -- --write`);
  return 1;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
