import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { npmName } from '../../../dashboard/src/lib/client-packages.ts';
import {
  codeSamples,
  defaultPrompt,
  lookUpSamples,
  uploadsNote,
} from '../../../dashboard/src/lib/code-samples.ts';
import type { IdentityAnswer } from '../../../shared/identities/contract.ts';
import {
  identityToShow,
  promptProblem,
  samplePrompt,
} from '../../../dashboard/src/screens/quickstart/samples.ts';

const clientSource = new URL('../../../clients/typescript/src/index.ts', import.meta.url).href;

/** Prompts that a shell, JavaScript or Python would run as code if they were not quoted. */
const hostilePrompts = [
  `it's "quoted" and 'quoted' again`,
  '$(touch owned) `touch owned` ${HOME} $HOME $((1+1)) !! !1 ~ * ?',
  'two\nlines\r\nand a tab\t.',
  'a backslash \\ two \\\\ before a quote \\" and \\\' and at the end \\',
  '\\n \\u0041 \\x41 \\N{BULLET} %s {0} %(name)s',
  '\'\'\'triple\'\'\' """triple""" `${process.exit(1)}`',
  '@/etc/passwd',
  'Łódź, 東京, العربية, 🎨🏔️, e\u0301',
  'line \u2028 and paragraph \u2029 separators, \u0085, \u000b, \u000c, \ufeff, \u200b',
  'an override \u202e and an isolate \u2066',
  'a bell \u0007, an escape \u001b[31m, a delete \u007f',
];

const apiBaseUrl = 'https://api.example.test/api/v1';
const addresses = { apiBaseUrl, siteUrl: 'https://app.example.test/' };
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'samples-'));
  // A `curl` that prints its arguments as JSON.
  const fake = '#!/bin/sh\nexec "$NODE" --print "JSON.stringify(process.argv.slice(1))" -- "$@"\n';
  writeFileSync(join(folder, 'curl'), fake);
  chmodSync(join(folder, 'curl'), 0o755);
  installClient();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function curlArguments(sample: string): string[] {
  const path = `${folder}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH: path, NODE: process.execPath, IMAGE_API_KEY: 'svc_live_a$b' };
  return JSON.parse(execFileSync('bash', ['-c', sample], { env, cwd: folder, encoding: 'utf8' }));
}

/** Runs TypeScript samples in another process. @returns what they asked of the API. */
function fetched(samples: string[]): { line: string; headers: Record<string, string>; body?: string }[] {
  const files = samples.map((_, i) => join(folder, `image-${i}.mts`));
  files.forEach((file, i) => writeFileSync(file, samples[i]!));
  const runner = `
    const asked = [];
    const print = console.log;
    globalThis.fetch = async (url, { method, headers, body }) => {
      if (url === 'link') return new Response('an image');
      asked.push({ line: method + ' ' + url, headers: Object.fromEntries(headers), body });
      return Response.json({ requestId: 'req_1', outputs: ['link'], usage: { creditsCharged: 1 } });
    };
    console.log = () => {};
    for (const file of ${JSON.stringify(files)}) await import(file);
    print(JSON.stringify(asked));`;
  const env = { ...process.env, IMAGE_API_KEY: 'svc_live_a$b', NODE_OPTIONS: '' };
  const options = { env, cwd: folder, encoding: 'utf8' } as const;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', runner], options));
}

/** The strings of Python code, which reads JSON's escapes as JSON does, but for halves of a pair of surrogates. */
function pythonStrings(code: string): string[] {
  const commentsAndStrings = code.match(/#.*|"(?:[^"\\\r\n]|\\.)*"/g) ?? [];
  const strings = commentsAndStrings.filter((part) => part.startsWith('"'));
  for (const one of strings) expect(one).not.toMatch(/\\(u[dD][89a-fA-F]|\/)/);
  return strings.map((one) => JSON.parse(one) as string);
}

test('every sample sends each prompt as it is', () => {
  const bodies = hostilePrompts.map((prompt) => ({ identityId: 'idn_1', prompt }));
  const samples = bodies.map((body) => codeSamples({ ...addresses, body }));
  for (const [i, body] of bodies.entries()) {
    const given = curlArguments(samples[i]!.curl);
    const headers = ['Authorization: Bearer svc_live_a$b', 'Content-Type: application/json'];
    const sent = [...headers, expect.stringMatching(/^Idempotency-Key: sample-[\da-f]{8}$/)];
    const options = sent.flatMap((header) => ['-H', header]);
    expect(given.slice(0, -1)).toEqual(['-sS', `${apiBaseUrl}/generate`, ...options, '-d']);
    expect(JSON.parse(given.at(-1)!)).toEqual(body);
    expect(pythonStrings(samples[i]!.python)).toEqual([apiBaseUrl, 'idn_1', body.prompt, 'image.png']);
  }
  const requests = fetched(samples.map(({ typescript }) => typescript));
  expect(requests.map(({ body }) => JSON.parse(body!))).toEqual(bodies);
  for (const { line, headers } of requests) {
    expect([line, headers.authorization]).toEqual([`POST ${apiBaseUrl}/generate`, 'Bearer svc_live_a$b']);
  }
  expect(readFileSync(join(folder, 'image.png'), 'utf8')).toBe('an image');
});

test('curl samples have one Idempotency-Key for one body, and another for another', () => {
  const keyOf = (body: object) => codeSamples({ ...addresses, body } as never).curl.match(/Idem.*/)![0];
  expect(keyOf({ prompt: 'x' })).toBe(keyOf({ prompt: 'x' }));
  expect(keyOf({ prompt: 'x' })).not.toBe(keyOf({ prompt: 'x', seed: 7 }));
});

test('the Python sample writes numbers and truth values as Python does', () => {
  const body = { seed: 4_294_967_295, guidanceScale: 7.5, preserveBranding: true, other: false };
  const { python } = codeSamples({ ...addresses, body });
  expect(python).toContain('    seed=4294967295,\n    guidance_scale=7.5,\n');
  expect(python).toContain('    preserve_branding=True,\n    other=False,\n');
});

test('every sample sends reference images as they are, and says that uploads end', () => {
  const referenceImages = [{ url: `https://shop.example/it's "a" cup.jpg?$x=1` }, { uploadId: 'upl_1' }];
  const body = { prompt: 'x', referenceImages, preserveBranding: false };
  const { curl, typescript, python } = codeSamples({ ...addresses, body });
  expect(JSON.parse(curlArguments(curl).at(-1)!)).toEqual(body);
  expect(JSON.parse(fetched([typescript])[0]!.body!)).toEqual(body);
  const [url, upload] = [referenceImages[0]!.url, 'upl_1'];
  expect(pythonStrings(python).slice(2, 6)).toEqual(['url', url, 'upload_id', upload]);
  for (const sample of [typescript, python]) expect(sample).toContain(uploadsNote);
  const others = codeSamples({ ...addresses, body: { prompt: 'x', referenceImages: [{ url: url! }] } });
  for (const sample of Object.values(others)) expect(sample).not.toContain(uploadsNote);
});

test('no sample holds a key: each reads it from the environment', () => {
  const samples = codeSamples({ ...addresses, body: { identityId: 'idn_1', prompt: 'x' } });
  expect(samples.curl).toContain('$IMAGE_API_KEY');
  // The clients read it by themselves, which the tests of what they send show.
  for (const sample of Object.values(samples)) expect(sample).not.toMatch(/svc_live|api_?key *[:=]/i);
});

test('a base address with special characters of a shell stays one argument', () => {
  const odd = 'https://api.example.test/a&b;c d/api/v1';
  const samples = codeSamples({ ...addresses, apiBaseUrl: odd, body: { prompt: 'x' } });
  expect(curlArguments(samples.curl)[1]).toBe(`${odd}/generate`);
  expect(fetched([samples.typescript])[0]!.line).toBe(`POST ${odd}/generate`);
});

test('the look-up samples ask for one stored request, with the key', () => {
  const requestId = '01a1fe17-4623-74fb-8151-b32dfc4e8b2f';
  const samples = lookUpSamples({ ...addresses, requestId });
  const url = `${apiBaseUrl}/generate/${requestId}`;
  expect(curlArguments(samples.curl)).toEqual(['-sS', url, '-H', 'Authorization: Bearer svc_live_a$b']);
  const [asked] = fetched([samples.typescript]);
  expect([asked!.line, asked!.headers.authorization]).toEqual([`GET ${url}`, 'Bearer svc_live_a$b']);
  expect(pythonStrings(samples.python)).toEqual([apiBaseUrl, requestId]);
});

const identity = (id: string, available: boolean) => ({ id, name: id, available }) as IdentityAnswer;

test('the samples have the identity that was chosen, else one that is available, else another or a placeholder', () => {
  const identities = [identity('idn_a', false), identity('idn_b', true), identity('idn_c', true)];
  const shown = (of: IdentityAnswer[], chosen: string | null) => identityToShow(of, chosen).id;
  expect([shown(identities, null), shown(identities, 'idn_c')]).toEqual(['idn_b', 'idn_c']);
  // As after a change of license.
  expect(shown([identity('idn_b', true)], 'idn_gone')).toBe('idn_b');
  expect([shown([identity('idn_a', false)], null), shown([], null)]).toEqual(['idn_a', 'YOUR_IDENTITY_ID']);
});

test('the samples send the entered prompt unless the service would refuse it', () => {
  expect(samplePrompt('a "quoted" fox')).toBe('a "quoted" fox');
  expect(samplePrompt('  ')).toBe(defaultPrompt);
  expect(samplePrompt('🎨'.repeat(1000))).toBe('🎨'.repeat(1000));
  expect(samplePrompt('🎨'.repeat(1001))).toBe(defaultPrompt);
  expect(promptProblem('x'.repeat(1001))).toBe('Use at most 1000 characters; these are 1001.');
});

/** Makes the import of the client's package find the client's source, without a build. */
function installClient(): void {
  const place = join(folder, 'node_modules', npmName);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  writeFileSync(join(place, 'index.js'), `export * from ${JSON.stringify(clientSource)};`);
}
