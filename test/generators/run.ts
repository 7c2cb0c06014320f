import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { listen, type RunningServer } from '../../local/http/server.ts';
import { forward } from '../support/forward.ts';
import { grant, tableOf } from '../support/grants.ts';
import { inRepository } from '../support/repository.ts';
import { removeFolder, startService, temporaryFolder } from '../support/service.ts';
import { generators } from './generators.ts';

// Other people's generators make clients from the document that a running service serves. Each client is compiled, makes a
// picture, reads it back and reads a refusal: from the service, and from one that grew as docs/api/versioning.md allows.
const names = Object.keys(generators).map((one) => one.split(' ')[0]!);
const { values } = parseArgs({ options: { only: { type: 'string', default: names.join() } } });
const chosen = values.only.split(',');
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`${unknown.join()}: npm run generators -- --only ${names.join()}`);

const service = await startService();
const { baseUrl, identities } = service.ready;
const grown = await startGrownService();
const folder = temporaryFolder();
const document = join(folder, 'openapi.json');
try {
  writeFileSync(document, await (await fetch(`${baseUrl}/openapi.json`)).text());
  for (const [one, lines] of Object.entries(generators)) {
    const [name, version] = one.split(' ') as [string, string];
    if (chosen.includes(name) && !(await isFit(name, version, lines))) process.exitCode = 1;
  }
} finally {
  await Promise.all([grown.close(), service.end()]);
  for (const one of [folder, service.dataDir]) removeFolder(one);
}

/** The service of a later day: every object has a member more, and what names a state or an error names a new one. */
function startGrownService(): Promise<RunningServer> {
  const grow = (name: string, value: unknown): unknown => {
    if (['code', 'status', 'type'].includes(name)) return 'NEW';
    return typeof value === 'object' && value && !Array.isArray(value)
      ? { ...value, new: { new: [1] } }
      : value;
  };
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    // So that the answer is text.
    delete req.headers['accept-encoding'];
    const today = await forward(baseUrl, req, await buffer(req));
    const { 'content-length': _, ...headers } = today.headers;
    res.writeHead(today.statusCode!, headers);
    res.end(JSON.stringify(JSON.parse(await text(today), grow)));
  };
  return listen(createServer((req, res) => void answer(req, res).catch(() => res.destroy())));
}

/** Prints how each step ended, and before it what failed. @returns whether all is well */
async function isFit(name: string, version: string, lines: [string, string, string]): Promise<boolean> {
  const [generate, compile, run] = lines;
  const tools = `${generate}\n${compile}`.match(/(?<=^\s*|; )(java|mvn|go|cargo|python3|npm)(?= )/gm)!;
  const missing = [...new Set(tools)].filter((tool) => spawnSync('which', [tool]).status !== 0);
  if (missing.length > 0) console.log(`${name}: SKIPPED, this machine has no ${missing.join()}`);
  if (missing.length > 0) return false;
  const { key } = await grant(tableOf(service.dataDir));
  const grownUrl = grown.url + new URL(baseUrl).pathname;
  const steps: [step: string, lines: string, prints: RegExp, url?: string, key?: string][] = [
    ['generated', generate, /^/],
    ['compiled', compile, /^/],
    ['picture', run, /^(\S{36}) 4000000000 \1 4000000000 COMPLETED\n$/, baseUrl, key],
    ['grown answer', run, /^(\S{36}) 4000000000 \1 4000000000 NEW\n$/, grownUrl, key],
    ['refusal', run, /^INVALID_API_KEY\n$/, baseUrl, 'unknown'],
    ['grown refusal', run, /^NEW\n$/, grownUrl, 'unknown'],
  ];
  const cwd = join(folder, name);
  cpSync(inRepository(`docs/api/generated-clients/${name}`), cwd, { recursive: true });
  const ended: string[] = [];
  const startedMs = Date.now();
  for (const [step, commands, prints, url = '', apiKey = ''] of steps) {
    const its = { IMAGE_BASE_URL: url, IMAGE_API_KEY: apiKey, IMAGE_IDENTITY_ID: identities['aurora']! };
    const env = { ...process.env, ...its, VERSION: version, DOCUMENT: document };
    const child = spawn('bash', ['-ec', commands], { cwd, env, timeout: 600_000 });
    const [out, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    const passed = code === 0 && prints.test(out);
    ended.push(`${step} ${passed ? 'yes' : 'NO'}`);
    if (!passed) console.log(`${name}, ${step}:\n${commands}\n${out}${errors}`);
    if (!passed && commands !== run) break;
  }
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  console.log(
    `${name} ${version}: ${ended.join(', ')}; ${seconds} s; by ${generate.split('\n').at(-1)!.trim()}`,
  );
  return ended.filter((one) => one.endsWith('yes')).length === steps.length;
}
