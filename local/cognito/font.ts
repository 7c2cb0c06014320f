import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { ServerResponse } from 'node:http';

/** Where the sign-in pages have their font, which is the dashboard's. */
export const fontPath = '/login/inter.woff2';

const file = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';

/** Without the dashboard's packages there is no font, and the pages take the system's. */
export async function sendFont(res: ServerResponse): Promise<void> {
  const content = await readFont().catch(() => null);
  if (content === null) return void res.writeHead(404).end();
  res.writeHead(200, { 'content-type': 'font/woff2', 'cache-control': 'public, max-age=86400' }).end(content);
}

async function readFont(): Promise<Buffer> {
  return readFile(createRequire(import.meta.url).resolve(file));
}
