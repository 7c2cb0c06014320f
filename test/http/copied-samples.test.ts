import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createClient } from '../../clients/typescript/src/index.ts';
import { codeSamples, lookUpSamples, type SampleRequest } from '../../dashboard/src/lib/code-samples.ts';
import { pythonClient } from '../support/python.ts';
import { small } from '../support/requests.ts';
import { removeFolder, temporaryFolder } from '../support/service.ts';
import { samplePhoto } from '../support/uploads.ts';
import { identities, newAccount, service, type Account } from './fixture.ts';

// What the dashboard's "Copy as" puts on the clipboard, run as it is.
jest.setTimeout(120_000);

const exec = promisify(execFile);
const { baseUrl: apiBaseUrl, dashboardUrl: siteUrl } = service.ready;
const addresses = { apiBaseUrl, siteUrl };
let installed: string;
let folder: string;
let own: Account;

/** Runs what the first line of a sample says, which installs the client from the dashboard's site. */
beforeAll(async () => {
  installed = temporaryFolder();
  const samples = lookUpSamples({ ...addresses, requestId: 'any' });
  const [npm, pip] = [samples.typescript, samples.python].map((one) => /^\S+ (.*)/.exec(one)![1]!);
  await exec('bash', ['-c', `${npm} --no-audit --no-fund`], { cwd: installed });
  if (pythonClient === null) return;
  // What the client needs is installed, so that nothing else is fetched.
  const line = `'${pythonClient.python}' -m ${pip} --no-deps --no-cache-dir --target '${installed}/python'`;
  await exec('bash', ['-c', line]);
});
beforeEach(async () => {
  folder = mkdtempSync(join(installed, 'reader-'));
  own = await newAccount();
});
afterAll(() => removeFolder(installed));

/** Runs a sample with the key in its environment. @returns what it printed. */
async function run(sample: string, command: string, file: string): Promise<string> {
  writeFileSync(join(folder, file), sample);
  const PYTHONPATH = join(installed, 'python');
  const env = { PATH: process.env.PATH, HOME: folder, IMAGE_API_KEY: own.key, PYTHONPATH };
  return (await exec(command, [file], { cwd: folder, env })).stdout;
}

/** All parameters, and a prompt that means something in a shell and in each language. */
async function allParameters(): Promise<SampleRequest['body']> {
  const client = createClient({ apiKey: own.key, baseUrl: apiBaseUrl });
  return {
    ...small,
    identityId: identities.citrine!,
    prompt: `it's "a" bay \\ $(id) \`id\` \${1} 🏔️\nand a line`,
    negativePrompt: 'people',
    seed: 7,
    guidanceScale: 7.5,
    numOutputs: 2,
    outputFormat: 'webp',
    referenceImages: [{ uploadId: await client.uploadReference(await samplePhoto()) }],
    referenceMode: 'reference',
    preserveBranding: true,
  };
}

describe('a copied request', () => {
  test('works in curl, gives the same again when it is run again, and another image for another body', async () => {
    const body = await allParameters();
    const ran = async (asked: SampleRequest['body']) =>
      JSON.parse(await run(codeSamples({ ...addresses, body: asked }).curl, 'sh', 'image.sh'));
    const { outputs, requestId } = await ran(body);
    expect(outputs).toHaveLength(2);
    expect((await ran(body)).requestId).toBe(requestId);
    await own.expectCharged(2);
    expect((await ran({ ...body, prompt: 'another' })).requestId).not.toBe(requestId);
  });

  const programs: Record<string, [command: string, file: string]> = {
    typescript: [process.execPath, 'image.mts'],
    ...(pythonClient && { python: [pythonClient.python, 'image.py'] }),
  };
  test.each(Object.keys(programs))('saves its images in %s', async (name) => {
    const language = name as 'typescript' | 'python';
    const body = await allParameters();
    expect(await run(codeSamples({ ...addresses, body })[language], ...programs[name]!)).toBe('');
    const names = readdirSync(folder).filter((file) => /^image.*\.webp$/.test(file));
    expect(names).toHaveLength(2);
    for (const file of names)
      expect((await sharp(readFileSync(join(folder, file))).metadata()).format).toBe('webp');
    await own.expectCharged(2);
    const [generation] = (await own.byKey('/generate')).body.generations;
    expect(generation.prompt).toBe(body.prompt);
    const sample = lookUpSamples({ ...addresses, requestId: generation.id })[language];
    expect(await run(sample, ...programs[name]!)).toMatch(/^COMPLETED \[.*http/s);
  });
});
