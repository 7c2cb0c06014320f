import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { listen, type RunningServer } from '../../local/http/server.ts';
import { codeBlocks } from '../support/documents.ts';
import { forward } from '../support/forward.ts';
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
 * inspector's command line; and the protocol's own suite. They hold answers to the protocol's schemas, and results to the schemas that the
 * tools announce.
 */

const service = useService();
const home = temporaryFolder();
afterAll(() => removeFolder(home));
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
      'cancel',
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
  const methods =
    'clientInformation saveClientInformation tokens saveTokens redirectToAuthorization saveCodeVerifier';
  const authProvider = {
    ...Object.fromEntries(methods.split(' ').map((name) => [name, () => undefined])),
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl] },
    codeVerifier: () => 'none',
  };
  await expect(present('svc_live_x', 'legacy', { authProvider, fetch: counting })).rejects.toThrow(/404/);
  expect(asked).toBeLessThanOrEqual(6);
});

test('docs/api/agents.md: the samples of both clients work, as a reader pastes them', async () => {
  symlinkSync(judgePath(''), join(home, 'node_modules'));
  const { key, license } = await grant(service.table);
  const { baseUrl, identities } = service.ready;
  const env = {
    HOME: home,
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
  const printed = await runIn(home, 'bash', ['-euc', shell], env);
  expect(printed.match(/"creditsCharged": 1/g)).toHaveLength(1);
  writeFileSync(join(home, 'agent.mjs'), program);
  const link = await runIn(home, process.execPath, ['agent.mjs'], env);
  await openImage(link.trim());
  await expectCharged(service.table, license, 2);
});

async function runIn(cwd: string, program: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)(program, args, { cwd, env: { PATH, ...env } });
  return stdout;
}

test.each(['legacy', 'modern'])('the inspector finds nothing to say of the tools: %s', async (era) => {
  const { key } = await grant(service.table);
  const program = judgePath('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const server = ['--cli', url().href, '--transport', 'http', '--header', `Authorization: Bearer ${key}`];
  const args = [...server, '--method', 'tools/list', '--strict', '--protocol-era', era];
  const { code, stdout, stderr } = await runProgram(program, args, { env: { HOME: home } });
  expect([code, stderr, JSON.parse(stdout).tools.length]).toEqual([0, '', 5]);
});

/** Scenarios of the protocol's own suite, or single checks of one, that don't apply, by what is not there. */
const inapplicable = {
  "the suite's own tools": `tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content
    tools-call-with-logging tools-call-error tools-call-with-progress tools-call-sampling tools-call-elicitation json-schema-2020-12
    elicitation-sep1034-defaults elicitation-sep1330-enums server-stateless:sep-2575-server-rejects-undeclared-capability
    server-stateless:sep-2575-missing-capability-http-400 server-stateless:sep-2575-http-server-no-independent-requests-on-stream`,
  'prompts and resources': `prompts-list prompts-get-simple prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image resources-list
    resources-read-text resources-read-binary resources-templates-read resources-subscribe resources-unsubscribe sep-2164-resource-not-found
    caching:sep-2549-prompts-list-caching-hints caching:sep-2549-resources-list-caching-hints caching:sep-2549-resources-templates-list-caching-hints`,
  'completion, log levels': `completion-complete logging-set-level server-stateless:sep-2575-server-no-log-without-loglevel`,
  'tools that ask their user': `input-required-result-basic-elicitation input-required-result-basic-sampling input-required-result-basic-list-roots
    input-required-result-request-state input-required-result-multiple-input-requests input-required-result-multi-round
    input-required-result-missing-input-response input-required-result-non-tool-request input-required-result-result-type
    input-required-result-tampered-state input-required-result-capability-check input-required-result-ignore-extra-params`,
  'arguments that are headers too': 'http-custom-header-server-validation',
  'sessions, streams to resume':
    'server-sse-polling server-sse-multiple-streams:server-sse-multiple-streams-session',
};

/** The suite knows no keys, and takes the address that it gets for the service's own. */
async function startKeyProxy(): Promise<RunningServer> {
  let sent = 0;
  let granted: ReturnType<typeof grant>;
  const proxy = await listen(
    createServer(async (req, res) => {
      // A key may send 60 messages a minute.
      if (sent++ % 50 === 0) granted = grant(service.table);
      const headers = JSON.parse(JSON.stringify(req.headers).replaceAll(new URL(proxy.url).host, url().host));
      req.headers = { ...headers, authorization: `Bearer ${(await granted).key}` };
      const answer = await forward(url().href, req, await buffer(req));
      answer.pipe(res.writeHead(answer.statusCode!, answer.headers));
    }),
  );
  return proxy;
}

test("the protocol's own suite finds nothing wrong in any revision, and what does not apply still does not", async () => {
  const proxy = await startKeyProxy();
  const listed = Object.values(inapplicable).join(' ').split(/\s+/);
  const baseline = join(home, 'baseline.yml');
  writeFileSync(baseline, JSON.stringify({ server: listed }));
  const program = judgePath('@modelcontextprotocol/conformance/dist/index.js');
  const options = `server --suite all --url ${proxy.url}${url().pathname} --expected-failures ${baseline} --spec-version`;
  // It waits for a stream no longer than 0.8 seconds, so a busy machine may be asked again.
  const run = async (revision: string, tries = 3): Promise<Awaited<ReturnType<typeof runProgram>>> => {
    const done = await runProgram(program, [...options.split(' '), revision]);
    return done.code === 0 || tries === 1 ? done : run(revision, tries - 1);
  };
  const runs = [];
  // For 2025-03-26 it has no scenario.
  for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) runs.push(await run(revision));
  await proxy.close();
  // What failed and is not listed, or is listed and did not fail, stands below the summary.
  const failed = runs.map(({ code, stdout }) => (code === 0 ? [] : stdout.split('=== SUMMARY ===')));
  expect(failed).toEqual([[], [], []]);
  for (const { stdout } of runs) expect(stdout).toMatch(/Total: [1-9]\d* passed/);
  const excused = runs.flatMap(({ stdout }) => [...stdout.matchAll(/^ +~ (\S+)/gm)].map(([, name]) => name));
  expect(new Set(excused)).toEqual(new Set(listed));
});
