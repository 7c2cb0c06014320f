import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { codeBlocks } from '../support/documents.ts';
import { grant } from '../support/grants.ts';
import { openImage } from '../support/png.ts';
import { expectCharged } from '../support/period-totals.ts';
import { small } from '../support/requests.ts';
import { runProgram } from '../support/run-program.ts';
import { removeFolder, temporaryFolder } from '../support/service.ts';
import { useService } from '../support/use-service.ts';
import { judgePath } from './tools.ts';

/*
 * Judges of POST /mcp: the protocol's official clients, the present one and the one that most hosts of today have inside, and the official
 * inspector's command line. They hold answers to the protocol's schemas, and results to the schemas that the tools announce.
 */

const service = useService();
const url = () => new URL(`${service.ready.baseUrl}/mcp`);
const order = (more: object = {}) => ({
  ...small,
  identityId: service.ready.identities.aurora!,
  ...more,
});
const about = { name: 'a judge', version: '1' };
const requestInit = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });

interface Judge {
  client: any;
  /** What it could not handle, and went on. */
  faults: Error[];
}

/** The official client, which negotiates the revision: `legacy` begins with the handshake of 2025, `auto` asks for the present one. */
async function present(key: string, mode: 'legacy' | 'auto', transport: object = {}): Promise<Judge> {
  const { Client, StreamableHTTPClientTransport } = await import(
    judgePath('@modelcontextprotocol/client/dist/index.mjs')
  );
  const client = new Client(about, { versionNegotiation: { mode } });
  const options = { requestInit: requestInit(key), ...transport };
  return connected(client, new StreamableHTTPClientTransport(url(), options));
}

async function former(key: string): Promise<Judge> {
  const folder = '@modelcontextprotocol/sdk/dist/esm/client';
  const { Client } = await import(judgePath(`${folder}/index.js`));
  const { StreamableHTTPClientTransport } = await import(judgePath(`${folder}/streamableHttp.js`));
  const options = { requestInit: requestInit(key) };
  return connected(new Client(about), new StreamableHTTPClientTransport(url(), options));
}

async function connected(client: any, transport: object): Promise<Judge> {
  const faults: Error[] = [];
  Object.assign(client, { onerror: (error: Error) => faults.push(error) });
  await client.connect(transport);
  return { client, faults };
}

describe.each<[string, string | undefined, (key: string) => Promise<Judge>]>([
  ['the present client', '2026-07-28', (key) => present(key, 'auto')],
  ['the present client with the handshake', '2025-11-25', (key) => present(key, 'legacy')],
  ['the former client', undefined, former],
])('%s', (_, revision, connect) => {
  test('lists, quotes, generates with progress, repeats, fetches and is refused', async () => {
    const { key, license } = await grant(service.table);
    const { client, faults } = await connect(key);
    expect(client.getNegotiatedProtocolVersion?.()).toBe(revision);
    expect(client.getInstructions()).toContain('list_identities');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }: any) => name).sort()).toEqual([
      'generate',
      'get_generation',
      'list_identities',
      'quote',
    ]);
    const call = (name: string, sent: object, options?: object) =>
      former === connect
        ? client.callTool({ name, arguments: sent }, undefined, options)
        : client.callTool({ name, arguments: sent }, options);
    const { structuredContent: list } = await call('list_identities', {});
    expect(list.identities.map(({ id }: any) => id)).toContain(service.ready.identities.aurora);
    const quoted = await call('quote', order());
    expect(quoted.structuredContent).toMatchObject({ accepted: true, credits: 1 });

    const notes: any[] = [];
    const sent = order({ idempotencyKey: 'one' });
    const made = await call('generate', sent, { onprogress: (note: object) => notes.push(note) });
    expect(notes.at(-1).message).toMatch(/^Step 20 of 20/);
    const { requestId, outputs, seed, usage } = made.structuredContent;
    expect([usage.creditsCharged, Number.isInteger(seed)]).toEqual([1, true]);
    await openImage(outputs[0]);
    expect(made.content.map(({ type }: any) => type)).toEqual(['text', 'image']);
    expect((await call('generate', sent)).structuredContent.requestId).toBe(requestId);
    expect((await call('get_generation', { requestId })).structuredContent.status).toBe('COMPLETED');
    const refused = await call('generate', order({ prompt: '' }));
    expect([refused.isError, refused.structuredContent.code]).toEqual([true, 'INVALID_PARAMETERS']);
    await expectCharged(service.table, license, 1);
    await client.close();
    expect(faults).toEqual([]);
  });
});

test('a client that could sign in by OAuth gives up after a few requests when its key is refused', async () => {
  let asked = 0;
  const counting = (input: string | URL, init?: RequestInit) => {
    asked += 1;
    return fetch(input, init);
  };
  const redirectUrl = 'http://127.0.0.1:9/callback';
  const authProvider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl] },
    clientInformation() {},
    saveClientInformation() {},
    tokens() {},
    saveTokens() {},
    redirectToAuthorization() {},
    saveCodeVerifier() {},
    codeVerifier: () => 'none',
  };
  await expect(present('svc_live_x', 'legacy', { authProvider, fetch: counting })).rejects.toThrow(/404/);
  expect(asked).toBeLessThanOrEqual(6);
});

test('docs/api/agents.md: the samples of both clients work, as a reader pastes them', async () => {
  const folder = temporaryFolder();
  try {
    symlinkSync(judgePath(''), join(folder, 'node_modules'));
    const { key, license } = await grant(service.table);
    const { baseUrl, identities } = service.ready;
    const env = {
      HOME: folder,
      IMAGE_BASE_URL: baseUrl,
      IMAGE_API_KEY: key,
      IMAGE_IDENTITY_ID: identities.aurora!,
    };
    const blocks = codeBlocks('docs/api/agents.md');
    const shell = blocks.find(({ text }) => text.includes('mcp --method'))!.text;
    const program = blocks.find(({ language }) => language === 'js')!.text;
    const [, version] = /inspector@([\d.]+)/.exec(shell)!;
    const installed = await import(judgePath('@modelcontextprotocol/inspector/package.json'), {
      with: { type: 'json' },
    });
    expect(installed.default.version).toBe(version);
    // Where it is installed, npx fetches nothing.
    const printed = await runIn(folder, 'bash', ['-euc', shell], env);
    expect(printed.match(/"creditsCharged": 1/g)).toHaveLength(1);
    writeFileSync(join(folder, 'agent.mjs'), program);
    const link = await runIn(folder, process.execPath, ['agent.mjs'], env);
    await openImage(link.trim());
    await expectCharged(service.table, license, 2);
  } finally {
    removeFolder(folder);
  }
});

async function runIn(cwd: string, program: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)(program, args, { cwd, env: { PATH, ...env } });
  return stdout;
}

describe("the inspector's command line", () => {
  const home = temporaryFolder();
  afterAll(() => removeFolder(home));

  async function inspect(key: string, ...args: string[]) {
    const program = judgePath('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
    const server = ['--cli', url().href, '--transport', 'http', '--header', `Authorization: Bearer ${key}`];
    const run = await runProgram(program, [...server, ...args], { env: { HOME: home } });
    return { ...run, printed: run.stdout === '' ? null : JSON.parse(run.stdout) };
  }
  const tool = (name: string, sent: object) =>
    ['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(sent)] as const;

  test.each(['legacy', 'modern'])('finds nothing to say of the tools: %s', async (era) => {
    const { key } = await grant(service.table);
    const { code, stderr, printed } = await inspect(
      key,
      '--method',
      'tools/list',
      '--strict',
      '--protocol-era',
      era,
    );
    expect([code, stderr, printed.tools.length]).toEqual([0, '', 4]);
  });

  test('generates, and tells a refusal from a result by its exit code', async () => {
    const { key } = await grant(service.table);
    const made = await inspect(key, ...tool('generate', order()));
    expect([made.code, made.printed.structuredContent.outputs.length]).toEqual([0, 1]);
    const refused = await inspect(key, ...tool('generate', order({ width: 1 })));
    expect([refused.code, refused.printed.structuredContent.code]).toEqual([5, 'INVALID_PARAMETERS']);
  });

  test('is refused with our sentence without a good key', async () => {
    const { code, stderr } = await inspect('svc_live_x', '--method', 'tools/list', '--stored-auth-only');
    expect([code, stderr]).toEqual([3, expect.stringContaining('The API key is missing, invalid')]);
  });
});
