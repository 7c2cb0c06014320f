import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { readConfiguration } from '../../lib/configuration.ts';
import { codeBlocks, type CodeBlock } from '../support/documents.ts';
import { openImage } from '../support/png.ts';
import { inRepository } from '../support/repository.ts';
import { samplePhoto } from '../support/uploads.ts';
import { identities, newAccount, service, type Account } from './fixture.ts';

// Each page is several images, generated beside whatever else runs here.
jest.setTimeout(120_000);

const photo = await samplePhoto({ format: 'jpeg' });
let folder: string;
let own: Account;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'docs-samples-'));
  writeFileSync(join(folder, 'photo.jpg'), photo);
  own = await newAccount();
  // Where README.md takes the key from.
  mkdirSync(join(folder, '.local'));
  const ready = JSON.stringify({ ...service.ready, keys: { pro: own.key } });
  writeFileSync(join(folder, '.local/ready.json'), ready);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The placeholders that a reader replaces. */
function filledIn(sample: string): string {
  return sample
    .replaceAll('http://127.0.0.1:4600/api/v1', service.ready.baseUrl)
    .replaceAll('svc_live_…', own.key)
    .replaceAll('idn_…', identities.aurora!);
}

/** The operator's commands of a page, for the license and the request of this test. */
function operatorSamples(page: string, requestId: string): string {
  const admin = `${process.execPath} ${inRepository('bin/admin.ts')} --data ${service.dataDir}`;
  return codeBlocks(page)
    .filter(({ language, text: block }) => language === 'sh' && /^admin/m.test(block))
    .map(({ text: block }) => block)
    .join('\n')
    .replace('npm run --silent admin -- --stack image-generation-prod', admin)
    .replaceAll('lic_…', own.license.licenseId)
    .replaceAll('019aa3c2-8f40-7a1c-b2d5-0e9c4a7f3b18', requestId);
}

/** Runs a program with what readers have put into their environment by then. @returns what it printed: no errors. */
async function run(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
  input = '',
): Promise<string> {
  const usual = {
    PATH: process.env.PATH,
    HOME: folder,
    IMAGE_BASE_URL: service.ready.baseUrl,
    IMAGE_API_KEY: own.key,
    IMAGE_IDENTITY_ID: identities.aurora,
  };
  const child = spawn(command, args, { cwd: folder, env: { ...usual, ...env } });
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stderr).toBe('');
  return stdout;
}

/** The samples of a page that call the API, and what sets them up. */
function shellSamples(page: string): CodeBlock[] {
  return codeBlocks(page).filter((block) => block.language === 'sh' && /curl|^export /m.test(block.text));
}

const separator = '\n=== the next sample ===\n';

/** Runs the samples one after the other in one shell, as a reader pastes them. @returns what each printed. */
async function runShell(samples: CodeBlock[]): Promise<string[]> {
  const script = [
    'set -euo pipefail',
    ...samples.map((sample) => `${filledIn(sample.text)}\nprintf '${separator.replaceAll('\n', '\\n')}'`),
  ];
  const stdout = await run('bash', ['-s'], {}, script.join('\n'));
  return stdout.split(separator).slice(0, -1);
}

/** Which members a value has, at every depth, and of which types; of lists, those of the first item. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, shapeOf(member)]),
  );
}

test.each<[page: string, printed: RegExp]>([
  ['README.md', /"outputs"/],
  ['docs/api/README.md', /"outputs"/],
  ['docs/api/credits.md', /"credits/],
  ['docs/api/asynchronous.md', /"status": ?"QUEUED"/],
  ['docs/api/images.md', /"referenceImagesUsed": ?1/],
  ['docs/api/reproducibility.md', /^identical$/m],
  ['docs/api/coming-from.md', /"outputs"[^]*"(QUEUED|PROCESSING|COMPLETED)"[^]*^http/m],
])(
  '%s: every shell sample works, and what is shown after it has the shape of what it prints',
  async (page, printed) => {
    // A reader of the later pages has generated before.
    await own.generate();
    const samples = shellSamples(page);
    const outputs = await runShell(samples);
    expect(outputs).toHaveLength(samples.length);
    samples.forEach(({ next }, i) => {
      expect(outputs[i]).not.toMatch(/"code":|<Error>/);
      if (outputs[i] === '' || next?.language !== 'json') return;
      expect(shapeOf(JSON.parse(outputs[i]!))).toEqual(shapeOf(JSON.parse(next.text)));
    });
    expect(outputs.join('\n')).toMatch(printed);
    for (const file of readdirSync(folder).filter((name) => /\.(png|webp)$/.test(name))) {
      const { format } = await sharp(join(folder, file)).metadata();
      expect(file).toMatch(new RegExp(`\\.${format}$`));
    }
  },
);

test('docs/first-week.md: an operator’s first week is done by its commands, and its configuration is one', async () => {
  const { body } = await own.generate({ prompt: 'a black square' });
  const printed = await run(
    'bash',
    ['-euo', 'pipefail', '-s'],
    {},
    operatorSamples('docs/first-week.md', body.requestId),
  );
  for (const part of [
    /Invited ada@example\.com/,
    /svc_live_\w+\n/,
    /Prompt +a black square/,
    /2 credits given as ticket-4711/,
    /readBecause: ticket 4711/,
    /Suspended .*disputed/,
    /can be signed in with again/,
    /ended in 2026-10/,
    /Nothing was changed: add --yes/,
    /\nErased /,
  ])
    expect(printed).toMatch(part);
  const [options] = codeBlocks('docs/first-week.md').filter(({ language }) => language === 'json');
  expect(readConfiguration(JSON.parse(options!.text), 'It').plans).toHaveLength(1);
});

/** The samples of a page in another language. */
const scripts = (page: string, language: string) =>
  codeBlocks(`docs/api/${page}.md`)
    .filter((block) => block.language === language)
    .map(({ text: script }) => script);

function runScript(file: string, script: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  writeFileSync(join(folder, file), script);
  return run(file.endsWith('.py') ? 'python3' : process.execPath, [file], env);
}

describe('JavaScript', () => {
  const samples = ['README', 'asynchronous', 'images', 'retries'].flatMap((page) =>
    scripts(page, 'js').map((script) => [page, script] as const),
  );

  test('is on four pages', () => expect(samples).toHaveLength(4));

  test.each(samples)('docs/api/%s.md: the sample prints a link that opens', async (page, script) => {
    // By the sample before it, its reader has chosen an identity that takes photos.
    const env = page === 'images' ? { IMAGE_IDENTITY_ID: identities.citrine } : {};
    await openImage(/https?:\S+/.exec(await runScript('sample.mjs', script, env))![0]);
  });

  test('docs/api/retries.md: the sample gets its image when the connection drops, and pays once', async () => {
    const proxy = await startCuttingProxy(service.ready.baseUrl);
    proxy.fates.push('is cut once it arrived');
    const printed = await runScript('sample.mjs', scripts('retries', 'js')[0]!, {
      IMAGE_BASE_URL: proxy.url + new URL(service.ready.baseUrl).pathname,
      // It takes so long that the first repeat usually finds the request still running.
      IMAGE_IDENTITY_ID: identities.harbor,
    });
    await openImage(/https?:\S+/.exec(printed)![0]);
    expect(proxy.seen.length).toBeGreaterThanOrEqual(2);
    await own.expectCharged(1);
    await proxy.close();
  });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

(hasPython ? test : test.skip)('Python: the sample prints a link that opens', async () => {
  await openImage((await runScript('sample.py', scripts('README', 'python')[0]!)).trim());
});
