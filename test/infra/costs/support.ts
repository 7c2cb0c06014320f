import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { documentPath } from '../../../bin/costs/document.ts';

const program = fileURLToPath(new URL('../../../bin/costs.ts', import.meta.url));

/** Runs `npm run costs` in a process of its own. */
export function runCosts(args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { maxBuffer: 2 ** 24 };
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** The text between the markers of a part of docs/costs.md. */
export function documented(name: string): string {
  const text = readFileSync(documentPath, 'utf8');
  const [, part] = text.split(`<!-- costs: ${name} -->`);
  return part!.split('<!-- /costs -->')[0]!.trim();
}
