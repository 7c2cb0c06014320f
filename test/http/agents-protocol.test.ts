import { beforeAll, describe, expect, test } from '@jest/globals';
import { ask, headersOf, messageOf, messagesIn, revision } from '../support/agent.ts';
import { sendRaw } from '../support/raw-request.ts';
import { small } from '../support/requests.ts';
import { useService } from '../support/use-service.ts';
import { newAccount as accountOf, type Account } from './fixture.ts';

// The protocol's own suite and its official clients ask the rest: test/long/mcp.test.ts.

const origin = 'https://app.example.test';
const service = useService({ args: ['--allow-origin', origin], quickContainer: true });
const newAccount = () => accountOf({}, service);
let byKey: Account['byKey'];
let key: string;

beforeAll(async () => void ({ byKey, key } = await newAccount()));

const list = { method: 'tools/list' };
describe('revision 2026-07-28', () => {
  test('a tool that is not there is an error of the protocol', async () => {
    const params = { name: 'paint"\u0007', arguments: {} };
    const headers = { 'mcp-name': '=?base64?cGFpbnQiBw==?=' };
    const { messages } = await ask(service, { key, method: 'tools/call', params, headers });
    expect(messages[0].error).toMatchObject({ code: -32602, message: 'There is no tool "paint??".' });
  });

  test('who listens hears that there is nothing to listen to, and holds no function', async () => {
    const params = { notifications: { toolsListChanged: true } };
    const _meta = { 'io.modelcontextprotocol/subscriptionId': 1 };
    const begun = {
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: {}, _meta },
    };
    const ended = { id: 1, result: { resultType: 'complete', _meta } };
    const listen = async (accept: string) =>
      (await ask(service, { key, method: 'subscriptions/listen', params, headers: { accept } })).messages;
    expect(await listen('text/event-stream, application/json')).toMatchObject([begun, ended]);
    expect(await listen('application/json')).toMatchObject([ended]);
  });
});

// Every earlier revision is answered by the same code.
describe.each([revision, '2025-11-25'])('a caller of %s', (version) => {
  /** Sends a message as a client of this revision does, with a key of its own unless an account is given. */
  async function say(accept: string, method: string, params: any, by?: Account) {
    const isPresent = version === revision;
    const headers = isPresent ? headersOf({ method, params }) : { 'mcp-protocol-version': version };
    const body = isPresent ? messageOf({ method, params }) : { jsonrpc: '2.0', id: 1, method, params };
    const own = by ?? (await newAccount());
    const answer = await own.byKey('/mcp', { body, headers: { ...headers, accept } });
    const isStream = answer.headers.get('content-type') === 'text/event-stream';
    const messages = messagesIn(answer.body);
    return { status: answer.status, isStream, messages, ...messages.at(-1) };
  }
  const order = (more: object = {}) => ({ ...small, identityId: service.ready.identities.aurora!, ...more });

  // An empty header stands for none: `fetch` sends one for who names none.
  test.each<[string, 'json' | 'events' | 'either']>([
    ['', 'json'],
    ['application/json;q=0.1, text/*', 'json'],
    ['application/json, text/event-stream;q=0', 'json'],
    ['TEXT/Event-Stream;q=0.2, application/json;q=0', 'events'],
    ['*/*, application/json;q=0', 'events'],
    ['application/json, text/event-stream', 'either'],
  ])('that accepts %j is answered as %s', async (accept, form) => {
    const plain = await say(accept, 'tools/call', { name: 'quote', arguments: order() });
    expect([plain.status, plain.result.structuredContent.credits]).toEqual([200, 1]);
    // Where both are taken, earlier revisions always have events, and the present one has them for progress.
    expect(plain.isStream).toBe(form === 'events' || (form === 'either' && version !== revision));
    const _meta = { progressToken: 1 };
    const noted = await say(accept, 'tools/call', { name: 'generate', arguments: order(), _meta });
    const notifies = form !== 'json';
    expect([noted.status, noted.isStream, noted.messages.length > 1]).toEqual([200, notifies, notifies]);
    expect(noted.result.isError).toBeUndefined();
  });

  test.each(['text/html', '*/*;q=0', 'application/json;q=0, text/*;q=0'])(
    'that accepts neither form is refused: %s',
    async (accept) => {
      const { status, error } = await say(accept, 'tools/list', {});
      expect([status, error.code]).toEqual([406, -32000]);
    },
  );

  test('gets in JSON whatever a text has in it', async () => {
    const prompt = 'one\u2028two\u2029\r\ndata: three';
    const own = await newAccount();
    const { structuredContent: made } = await own.tool('generate', order({ prompt }));
    const get = { name: 'get_generation', arguments: { requestId: made.requestId } };
    expect((await say('*/*', 'tools/call', get, own)).result.structuredContent.prompt).toBe(prompt);
  });

  test('may write null for what it leaves out, of the message and of arguments, at any depth', async () => {
    const call = async (name: string, sent: unknown, _meta: object = {}) =>
      (await say('*/*', 'tools/call', { name, arguments: sent, _meta })).result.structuredContent;
    if (version !== revision) expect((await say('*/*', 'tools/list', null)).result.tools).toHaveLength(5);
    expect((await say('*/*', 'tools/list', { cursor: null })).result.tools).toHaveLength(5);
    const { identities } = await call('list_identities', null, { progressToken: null });
    expect(identities).not.toEqual([]);
    const nulls = { seed: null, referenceImages: null, idempotencyKey: null, outputFormat: null };
    expect(await call('quote', order(nulls))).toMatchObject({ credits: 1 });
    const { citrine } = service.ready.identities;
    const referenceImages = [{ url: 'https://nobody.invalid/a.png', uploadId: null }];
    const { error } = await call('quote', order({ identityId: citrine, referenceImages }));
    expect(error).toMatch(/^referenceImages\[0\](?!.*exactly one)/);
  });
});

describe('what is no message', () => {
  const deep = (levels: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'{"arguments":'.repeat(levels)}{}${'}'.repeat(levels)}}`;
  const tooLarge = JSON.stringify({ ...messageOf(list), note: 'x'.repeat(1024 * 1024) });

  test.each<[string, unknown, number, number, string]>([
    ['no JSON', '{"jsonrpc":', 400, -32700, 'INVALID_BODY'],
    ['a member twice', '{"jsonrpc":"2.0","id":1,"id":2}', 400, -32600, 'INVALID_BODY'],
    ['nothing', '', 400, -32700, 'INVALID_BODY'],
    ['too many levels', deep(65), 400, -32600, 'INVALID_BODY'],
    ['a batch', [messageOf(list), messageOf(list, 2)], 400, -32600, 'INVALID_BODY'],
    ['more than 1 MiB', tooLarge, 413, -32600, 'PAYLOAD_TOO_LARGE'],
  ])('is refused as an error of JSON-RPC: %s', async (_, sent, status, code, ours) => {
    const answer = await byKey('/mcp', { body: sent, headers: headersOf(list) });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json']);
    expect(answer.body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code, data: { code: ours } } });
  });

  test.each([
    {},
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: [{ name: 'quote' }] },
  ])('is refused, and never a fault of ours: %j', async (sent) => {
    for (const headers of [headersOf(list), { accept: 'application/json, text/event-stream' }]) {
      const { status } = await byKey('/mcp', { body: sent, headers });
      expect([202, 400]).toContain(status);
    }
  });
});

test('a web page of an origin that is allowed may call, or of the service’s own, and of no other', async () => {
  const { host, port } = new URL(service.ready.baseUrl);
  const known = [origin, `http://${host}`, `http://localhost:${port}`];
  const others = [`http://other.test:${port}`, `https://${host}`, 'http://127.0.0.1:1', 'null'];
  for (const from of [...known, ...others]) {
    const headers = { ...headersOf(list), origin: from, authorization: `Bearer ${key}` };
    const message = {
      method: 'POST',
      headers: Object.entries(headers),
      body: JSON.stringify(messageOf(list)),
    };
    // As if its name had been made to mean this machine (DNS rebinding).
    const named = URL.parse(from)?.host || host;
    const { status } = await sendRaw(service.ready.baseUrl, { path: '/mcp', host: named, ...message });
    expect([from, status]).toEqual([from, known.includes(from) ? 200 : 403]);
  }
});
