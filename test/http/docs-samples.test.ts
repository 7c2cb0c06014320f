import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { codeBlocks, type CodeBlock } from '../support/documents.ts';
import { grant, type Granted } from '../support/grants.ts';
import { expectCharged } from '../support/period-totals.ts';
import { generate } from '../support/requests.ts';
import { samplePhoto } from '../support/uploads.ts';
import { sharedService } from '../support/use-service.ts';

// Each page is several images, generated beside whatever else runs here.
jest.setTimeout(120_000);

const service = sharedService();
const { table } = service;
let photo: Buffer;
let folder: string;
let granted: Granted;

beforeAll(async () => {
  photo = await samplePhoto({ format: 'jpeg' });
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'docs-samples-'));
  writeFileSync(join(folder, 'photo.jpg'), photo);
  granted = await grant(table);
  // Where README.md takes the key and the identity from.
  mkdirSync(join(folder, '.local'));
  writeFileSync(
    join(folder, '.local/ready.json'),
    JSON.stringify({ ...service.ready, keys: { pro: granted.key } }),
  );
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What readers have put into their environment by the time they come to a sample. */
function readersEnvironment(): NodeJS.ProcessEnv {
  const { aurora } = service.ready.identities;
  const { key } = granted;
  return {
    PATH: process.env.PATH,
    HOME: folder,
    IMAGE_BASE_URL: service.ready.baseUrl,
    IMAGE_API_KEY: key,
    IMAGE_IDENTITY_ID: aurora,
  };
}

/** The placeholders that a reader replaces. */
function filledIn(text: string): string {
  return text
    .replaceAll('http://127.0.0.1:4600/api/v1', service.ready.baseUrl)
    .replaceAll('svc_live_…', granted.key)
    .replaceAll('idn_…', service.ready.identities.aurora!);
}

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

function run(command: string, args: string[], env: NodeJS.ProcessEnv, input = ''): Promise<Run> {
  const child = spawn(command, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const done: Run = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (done.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (done.stderr += chunk.toString()));
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...done, code }));
  });
}

/** The samples of a page that call the API, and what sets them up. */
function shellSamples(page: string): CodeBlock[] {
  return codeBlocks(page).filter(({ language, text }) => language === 'sh' && /curl|^export /m.test(text));
}

const separator = '\n=== the next sample ===\n';

/** Runs the samples one after the other in one shell, as a reader pastes them. @returns what each printed. */
async function runShell(samples: CodeBlock[]): Promise<string[]> {
  const script = [
    'set -euo pipefail',
    ...samples.map(({ text }) => `${filledIn(text)}\nprintf '${separator.replaceAll('\n', '\\n')}'`),
  ];
  const { code, stdout, stderr } = await run('bash', ['-s'], readersEnvironment(), script.join('\n'));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split(separator).slice(0, -1);
}

/** Which members a value has, at every depth, and of which types; of lists the first item tells. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, shapeOf(member)]),
  );
}

async function expectImage(link: string): Promise<void> {
  const answer = await fetch(link);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
}

/** Each page, and what must be among what its samples print. */
const shellPages: [page: string, printed: RegExp][] = [
  ['README.md', /"outputs"/],
  ['docs/api/README.md', /"outputs"/],
  ['docs/api/credits.md', /"credits/],
  ['docs/api/asynchronous.md', /"status": ?"QUEUED"/],
  ['docs/api/images.md', /"referenceImagesUsed": ?1/],
  ['docs/api/reproducibility.md', /^identical$/m],
];

describe('shell', () => {
  test.each(shellPages)(
    '%s: every sample works, and what is shown after it has the shape of what it prints',
    async (page, expected) => {
      // A reader of the later pages has generated before.
      await generate(service, granted.key, { identityId: service.ready.identities.aurora });
      const samples = shellSamples(page);
      expect(samples.length).toBeGreaterThan(0);
      const printed = await runShell(samples);
      samples.forEach(({ next }, i) => {
        expect(printed[i]).not.toMatch(/"code":|<Error>/);
        const isShown = printed[i] !== '' && next?.language === 'json';
        if (isShown) expect(shapeOf(JSON.parse(printed[i]!))).toEqual(shapeOf(JSON.parse(next.text)));
      });
      expect(printed.join('\n')).toMatch(expected);
      for (const file of readdirSync(folder).filter((name) => /\.(png|webp)$/.test(name))) {
        const { format } = await sharp(join(folder, file)).metadata();
        expect(file).toMatch(new RegExp(`\\.${format}$`));
      }
    },
  );
});

const scripts = (page: string, language: string) =>
  codeBlocks(page).filter((block) => block.language === language);

function runScript(text: string, language: 'js' | 'python', env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const [program, name] = language === 'js' ? [process.execPath, 'sample.mjs'] : ['python3', 'sample.py'];
  writeFileSync(join(folder, name), text);
  return run(program, [name], {
    ...readersEnvironment(),
    ...env,
  });
}

describe('JavaScript', () => {
  const samples = ['README.md', 'asynchronous.md', 'images.md', 'retries.md'].flatMap((name) =>
    scripts(`docs/api/${name}`, 'js').map(({ text }) => [`docs/api/${name}`, text] as const),
  );

  test('is on four pages', () => expect(samples).toHaveLength(4));

  test.each(samples)('%s: the sample prints a link that opens', async (page, text) => {
    // By the sample before it, its reader has chosen an identity that takes photos.
    const { citrine } = service.ready.identities;
    const env = page.endsWith('images.md') ? { IMAGE_IDENTITY_ID: citrine } : {};
    const { code, stdout, stderr } = await runScript(text, 'js', env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await expectImage(/https?:\S+/.exec(stdout)![0]);
  });

  test('docs/api/retries.md: the sample gets its image when the connection drops, and pays once', async () => {
    const proxy = await startCuttingProxy(service.ready.baseUrl);
    proxy.fates.push('is cut once it arrived');
    try {
      const [{ text }] = scripts('docs/api/retries.md', 'js') as [CodeBlock];
      const { code, stdout, stderr } = await runScript(text, 'js', {
        IMAGE_BASE_URL: proxy.url + new URL(service.ready.baseUrl).pathname,
        // It takes so long that the first repeat usually finds the request still running.
        IMAGE_IDENTITY_ID: service.ready.identities.harbor,
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      await expectImage(/https?:\S+/.exec(stdout)![0]);
      expect(proxy.seen.length).toBeGreaterThanOrEqual(2);
      await expectCharged(table, granted.license, 1);
    } finally {
      await proxy.close();
    }
  });
});

const hasPython = (await run('python3', ['--version'], process.env).catch(() => null))?.code === 0;

(hasPython ? test : test.skip)('Python: the sample prints a link that opens', async () => {
  const [{ text }] = scripts('docs/api/README.md', 'python') as [CodeBlock];
  const { code, stdout, stderr } = await runScript(text, 'python');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  await expectImage(stdout.trim());
});
