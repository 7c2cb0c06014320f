import { randomUUID } from 'node:crypto';
import { newApiKey } from '../../shared/domain/api-key.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import { sendFile } from '../support/uploads.ts';
import type { Answer } from './client.ts';
import type { Turn } from './clients.ts';

type Codes = readonly (ErrorCode | number)[];

/** Prompts hold this word: it must never be logged. */
export const promptMark = 'loadmark';

/** What may become of a request that is right in itself. The last two: some accounts are poor, some keys Starter's. */
const accepted: Codes = [
  200,
  'GENERATION_FAILED',
  'TIMEOUT',
  'IDENTITY_UNAVAILABLE',
  'RATE_LIMITED',
  'CREDIT_LIMIT_EXCEEDED',
  'TIER_LIMIT',
];

const generate = 'POST /generate';
const playground = 'POST /playground/generate';

function newBody({ random, world }: Turn, changes: Record<string, unknown> = {}): Record<string, unknown> {
  const names = { aurora: 40, basalt: 40, citrine: 20, ember: 3, flint: 2, glacier: 1 };
  return {
    identityId: world.identities[random.weighted(names)],
    prompt: `${promptMark} ${random.int(0, 1e9)}`,
    width: 512,
    height: 512,
    numOutputs: random.chance(0.2) ? 2 : 1,
    ...changes,
  };
}

/** Keeps what an answer tells: the request can be fetched from now on, and a 200 has been paid for. */
function note({ account, requests, ledger }: Turn, answer: Answer | null): Answer | null {
  if (answer?.status === 200) {
    const { requestId } = answer.body;
    requests.add({ account, requestId });
    ledger.deliver(requestId, answer.body.outputs.length);
  }
  return answer;
}

async function generating(turn: Turn, headers: Record<string, string> = {}, body = newBody(turn)) {
  const token = turn.random.pick(turn.account.keys);
  return note(turn, await turn.ask(generate, { path: '/generate', token, headers, body }, accepted));
}

/** Two requests with one idempotency key at the same time: at most one of them may be a generation. */
async function twice(turn: Turn): Promise<void> {
  const token = turn.random.pick(turn.account.keys);
  const call = {
    path: '/generate',
    token,
    body: newBody(turn),
    headers: { 'idempotency-key': randomUUID() },
  };
  const expected: Codes = [...accepted, 'IDEMPOTENCY_IN_PROGRESS'];
  const answers = await Promise.all([turn.ask(generate, call, expected), turn.ask(generate, call, expected)]);
  const ids = answers.flatMap((answer) =>
    note(turn, answer)?.status === 200 ? [answer!.body.requestId] : [],
  );
  if (new Set(ids).size > 1) turn.ledger.violate(`one idempotency key made ${ids.join(' and ')}.`);
}

/** Others may repeat it at once, even before it arrives, and with another body. */
async function generateOnce(turn: Turn): Promise<void> {
  const key = turn.random.pick(turn.account.keys);
  const idempotencyKey = randomUUID();
  const body = newBody(turn);
  turn.sent.add({ key, idempotencyKey, body });
  const call = { path: '/generate', token: key, body, headers: { 'idempotency-key': idempotencyKey } };
  const expected: Codes = [...accepted, 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_MISMATCH'];
  note(turn, await turn.ask(generate, call, expected));
}

/** When the first failed, its key was free again, and another body may have taken it. */
async function repeat(turn: Turn, changes: Record<string, unknown>): Promise<void> {
  const sent = turn.sent.pick(turn.random);
  if (sent === undefined) return;
  const call = {
    path: '/generate',
    token: sent.key,
    body: { ...sent.body, ...changes },
    headers: { 'idempotency-key': sent.idempotencyKey },
  };
  const expected: Codes = [...accepted, 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_MISMATCH'];
  const answer = await turn.ask(generate, call, expected);
  if (answer?.status === 200) {
    turn.ledger.deliver(answer.body.requestId, answer.body.outputs.length);
  }
}

/** By server-sent events: refusals are plain answers, and after that the last event says how it ended. */
async function stream(turn: Turn, operation: string, token: string, body: unknown): Promise<void> {
  const call = {
    path: operation.split(' ')[1]!,
    token,
    body,
    headers: { accept: 'text/event-stream' },
  };
  const answer = await turn.ask(operation, call, accepted);
  if (answer?.status !== 200) return;
  const events = answer.text
    .trimEnd()
    .split('\n\n')
    .filter((block) => block.startsWith('event: '));
  const [, event = 'nothing', data = '{}'] = /^event: (.*)\ndata: (.*)$/.exec(events.at(-1) ?? '') ?? [];
  turn.ledger.judgeEnd(operation, event, JSON.parse(data), accepted);
  if (event === 'completed') note(turn, { ...answer, body: JSON.parse(data) });
}

async function fetchAgain(turn: Turn): Promise<void> {
  const known = turn.requests.pick(turn.random);
  if (known === undefined) return;
  const { account, requestId } = known;
  const isOwn = turn.random.chance(0.8);
  const asker = isOwn ? account : turn.account;
  const bySession = turn.random.chance(0.5);
  const expected: Codes =
    asker === account ? [200, 'RATE_LIMITED', 'REQUEST_NOT_FOUND'] : ['REQUEST_NOT_FOUND', 'RATE_LIMITED'];
  const token = bySession ? asker.session : asker.keys[0]!;
  const answer = await turn.ask(
    'GET /generate/{requestId}',
    { path: `/generate/${requestId}`, token },
    expected,
  );
  // The first key is not every license's: a session sees all that is the account's.
  if (bySession && asker === account && answer?.body.code === 'REQUEST_NOT_FOUND') {
    turn.ledger.violate(`${requestId} was answered, and can not be fetched.`);
  }
}

async function list(turn: Turn): Promise<void> {
  const { account, random } = turn;
  const operation = 'GET /generate';
  const limit = random.int(1, 50);
  const bySession = random.chance(0.4);
  const token = bySession ? account.session : account.keys[0]!;
  const path = `/generate?limit=${limit}${bySession ? `&licenseId=${account.licenseIds[0]}` : ''}`;
  const answer = await turn.ask(operation, { path, token }, [200]);
  const cursor = answer?.status === 200 ? answer.body.nextCursor : null;
  if (typeof cursor === 'string') {
    await turn.ask(operation, { path: `${path}&cursor=${encodeURIComponent(cursor)}`, token }, [200]);
  }
}

/** A key's whole life: no request that begins after its revocation was answered may be accepted. */
async function liveAKey(turn: Turn): Promise<void> {
  const { account, ask } = turn;
  const token = account.session;
  const body = { licenseId: account.licenseIds[0], name: 'load' };
  const made = await ask('POST /keys', { path: '/keys', token, body }, [201, 'KEY_LIMIT_REACHED']);
  if (made?.status !== 201) return;
  const { key, keyId } = made.body;
  await ask('GET /identities', { path: '/identities', token: key }, [200]);
  const call = { method: 'DELETE', path: `/keys/${keyId}`, token };
  const revoked = await ask('DELETE /keys/{keyId}', call, [200]);
  if (revoked?.status !== 200) return;
  await ask('GET /identities', { path: '/identities', token: key }, ['INVALID_API_KEY']);
}

async function upload(turn: Turn): Promise<void> {
  const { account, world, ask } = turn;
  const token = account.keys[0]!;
  const operation = 'POST /uploads';
  const granted = await ask(operation, { path: '/uploads', token, body: {} }, [201, 'RATE_LIMITED']);
  if (granted?.status !== 201) return;
  await sendFile(granted.body, world.picture);
  const identityId = world.identities.citrine;
  const body = newBody(turn, { identityId, referenceImages: [{ uploadId: granted.body.uploadId }] });
  note(turn, await ask(generate, { path: '/generate', token, body }, accepted));
}

async function wrongCredential(turn: Turn): Promise<void> {
  const { random, account, ask } = turn;
  const token = random.pick([newApiKey(), `${account.keys[0]}x`, account.session, undefined, 'svc_live_']);
  await ask(generate, { path: '/generate', token, body: newBody(turn) }, ['INVALID_API_KEY']);
  const key = account.keys[0]!;
  await ask('GET /usage', { path: '/usage', token: key }, ['INVALID_SESSION']);
}

/** Each is refused before it costs anything. */
async function wrongBody(turn: Turn): Promise<void> {
  const token = turn.random.pick(turn.account.keys);
  const [body, code] = turn.random.pick<readonly [unknown, ErrorCode]>([
    ['{"identityId":', 'INVALID_BODY'],
    ['[]', 'INVALID_BODY'],
    [newBody(turn, { identityId: '' }), 'MISSING_IDENTITY'],
    [newBody(turn, { identityId: 'idn_unknown' }), 'IDENTITY_NOT_FOUND'],
    [newBody(turn, { identityId: turn.world.identities.drift }), 'IDENTITY_MISMATCH'],
    [newBody(turn, { width: 513 }), 'INVALID_PARAMETERS'],
    [newBody(turn, { surprise: 1 }), 'INVALID_PARAMETERS'],
    [newBody(turn, { prompt: 'x'.repeat(1_100_000) }), 'PAYLOAD_TOO_LARGE'],
  ]);
  await turn.ask(generate, { path: '/generate', token, body }, [code, 'RATE_LIMITED']);
}

async function hangUp(turn: Turn): Promise<void> {
  const { random, account, ask } = turn;
  const hangUpAfterMs = random.int(0, 150);
  const token = random.pick(account.keys);
  const sendsHalf = random.chance(0.2);
  const headers: Record<string, string> = random.chance(0.5) ? { accept: 'text/event-stream' } : {};
  await ask(
    generate,
    { path: '/generate', token, body: newBody(turn), headers, hangUpAfterMs, sendsHalf },
    accepted,
  );
}

async function readAccount(turn: Turn): Promise<void> {
  const { random, account, ask } = turn;
  const token = account.session;
  const licenseId = random.pick(account.licenseIds);
  const [operation, path] = random.pick([
    ['GET /usage', `/usage?licenseId=${licenseId}`],
    ['GET /licenses', '/licenses'],
    ['GET /keys', '/keys'],
    ['GET /identities', '/identities'],
  ] as const);
  await ask(operation, { path, token }, operation === 'GET /usage' ? [200, 'RATE_LIMITED'] : [200]);
}

async function readPublic({ random, ask }: Turn): Promise<void> {
  const [operation, path] = random.pick([
    ['GET /health', '/health'],
    ['GET /health', '/health'],
    ['GET /openapi.json', '/openapi.json'],
    ['an unknown route', '/nothing'],
  ] as const);
  await ask(operation, { path }, operation === 'an unknown route' ? ['NOT_FOUND'] : [200]);
}

interface Act {
  /** How often, beside the others. */
  weight: number;
  act(turn: Turn): Promise<unknown>;
}

/** Everything that a client may do. */
export const kinds = {
  generate: { weight: 18, act: (turn) => generating(turn) },
  generateOnce: { weight: 8, act: generateOnce },
  twice: { weight: 3, act: twice },
  repeat: { weight: 6, act: (turn) => repeat(turn, {}) },
  repeatOtherwise: { weight: 2, act: (turn) => repeat(turn, { seed: turn.random.int(0, 1e6) }) },
  stream: {
    weight: 6,
    act: (turn) => stream(turn, generate, turn.random.pick(turn.account.keys), newBody(turn)),
  },
  playground: {
    weight: 5,
    async act(turn) {
      const [licenseId] = turn.account.licenseIds;
      await stream(turn, playground, turn.account.session, { ...newBody(turn), licenseId });
    },
  },
  hangUp: { weight: 5, act: hangUp },
  fetchAgain: { weight: 14, act: fetchAgain },
  list: { weight: 8, act: list },
  readAccount: { weight: 10, act: readAccount },
  liveAKey: { weight: 2, act: liveAKey },
  upload: { weight: 2, act: upload },
  wrongCredential: { weight: 4, act: wrongCredential },
  wrongBody: { weight: 5, act: wrongBody },
  readPublic: { weight: 2, act: readPublic },
} as const satisfies Record<string, Act>;

export type Kind = keyof typeof kinds;
