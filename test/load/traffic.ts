import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { pause } from '../support/until.ts';
import { newApiKey } from '../../shared/domain/api-key.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import { sendFile } from '../support/uploads.ts';
import { eventsIn } from '../support/events.ts';
import type { ApiAnswer } from '../support/service.ts';
import type { Expected } from './ledger.ts';
import type { Sent, Turn } from './turn.ts';

/** Prompts hold this word: it must never be logged. */
export const promptMark = 'loadmark';

/** What a valid request may be answered. The last two: some accounts have few credits, some keys are Starter's. */
const accepted: Expected = [
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
function note({ account, requests, ledger }: Turn, answer: ApiAnswer | null): ApiAnswer | null {
  if (answer?.status === 200) {
    const { requestId } = answer.body;
    requests.push({ account, requestId });
    ledger.deliver(requestId, answer.body.outputs.length);
  }
  return answer;
}

async function generateSimply(turn: Turn): Promise<void> {
  const call = { path: '/generate', key: turn.random.pick(turn.account.keys), body: newBody(turn) };
  note(turn, await turn.ask(generate, call, accepted));
}

/** Any client may repeat it at once, even before it arrives, and with another body. */
function askOnce(turn: Turn, { key, idempotencyKey, body }: Sent): Promise<ApiAnswer | null> {
  const call = { path: '/generate', key, body, headers: { 'idempotency-key': idempotencyKey } };
  return turn.ask(generate, call, [...accepted, 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_MISMATCH']);
}

const newSent = (turn: Turn): Sent => ({
  key: turn.random.pick(turn.account.keys),
  idempotencyKey: randomUUID(),
  body: newBody(turn),
});

/** Two requests with one idempotency key at the same time: at most one of them may be a generation. */
async function twice(turn: Turn): Promise<void> {
  const sent = newSent(turn);
  const answers = await Promise.all([askOnce(turn, sent), askOnce(turn, sent)]);
  const ids = answers.flatMap((answer) =>
    note(turn, answer)?.status === 200 ? [answer!.body.requestId] : [],
  );
  if (new Set(ids).size > 1) turn.ledger.violate(`one idempotency key made ${ids.join(' and ')}.`);
}

async function generateOnce(turn: Turn): Promise<void> {
  const sent = newSent(turn);
  turn.sent.push(sent);
  note(turn, await askOnce(turn, sent));
}

/** When the first failed, its key was free again, and another body may have taken it. */
async function repeat(turn: Turn, changes: Record<string, unknown>): Promise<void> {
  if (turn.sent.length === 0) return;
  const sent = turn.random.pick(turn.sent);
  const answer = await askOnce(turn, { ...sent, body: { ...sent.body, ...changes } });
  if (answer?.status === 200) turn.ledger.deliver(answer.body.requestId, answer.body.outputs.length);
}

/** By server-sent events: refusals are plain answers, and after that the last event says how it ended. */
async function stream(turn: Turn, operation: string, key: string, body: unknown): Promise<void> {
  const call = { path: operation.split(' ')[1]!, key, body, headers: { accept: 'text/event-stream' } };
  const answer = await turn.ask(operation, call, accepted);
  if (answer?.status !== 200) return;
  // While nothing happens, comments keep the connection open.
  const { event, data } = eventsIn(answer.body.replaceAll(/^:.*\n\n/gm, '')).at(-1)!;
  turn.ledger.judgeEnd(operation, event, data, accepted);
  if (event === 'completed') note(turn, { ...answer, body: data });
}

async function fetchAgain(turn: Turn): Promise<void> {
  const { random, requests, ask, ledger } = turn;
  if (requests.length === 0) return;
  const { account, requestId } = random.pick(requests);
  const asker = random.chance(0.8) ? account : turn.account;
  const bySession = random.chance(0.5);
  const expected: Expected = ['REQUEST_NOT_FOUND', 'RATE_LIMITED', ...(asker === account ? [200] : [])];
  const call = { path: `/generate/${requestId}`, key: bySession ? asker.session : asker.keys[0]! };
  const answer = await ask('GET /generate/{requestId}', call, expected);
  // The first key is of one license only; a session sees everything of the account.
  if (bySession && asker === account && answer?.body.code === 'REQUEST_NOT_FOUND') {
    ledger.violate(`${requestId} was answered, and can not be fetched.`);
  }
}

async function list({ account, random, ask }: Turn): Promise<void> {
  const bySession = random.chance(0.4);
  const key = bySession ? account.session : account.keys[0]!;
  const license = bySession ? `&licenseId=${account.licenseIds[0]}` : '';
  const path = `/generate?limit=${random.int(1, 50)}${license}`;
  const expected: Expected = [200, 'RATE_LIMITED'];
  const answer = await ask('GET /generate', { path, key }, expected);
  const cursor = answer?.body.nextCursor ?? null;
  if (cursor === null) return;
  await ask('GET /generate', { path: `${path}&cursor=${encodeURIComponent(cursor)}`, key }, expected);
}

/** A key's whole life: no request that begins after its revocation was answered may be accepted. */
async function liveAKey({ account, ask }: Turn): Promise<void> {
  const byOwner = { key: account.session };
  const body = { licenseId: account.licenseIds[0], name: 'load' };
  const limits = ['KEY_LIMIT_REACHED', 'RATE_LIMITED'] as const;
  const made = await ask('POST /keys', { path: '/keys', body, ...byOwner }, [201, ...limits]);
  if (made?.status !== 201) return;
  const { key, keyId } = made.body;
  await ask('GET /identities', { path: '/identities', key }, [200]);
  const call = { method: 'DELETE', path: `/keys/${keyId}`, ...byOwner };
  const revoked = await ask('DELETE /keys/{keyId}', call, [200]);
  if (revoked?.status === 200)
    await ask('GET /identities', { path: '/identities', key }, ['INVALID_API_KEY']);
}

async function upload(turn: Turn): Promise<void> {
  const { account, world } = turn;
  const call = { path: '/uploads', key: account.keys[0]!, body: {} };
  const granted = await turn.ask('POST /uploads', call, [201, 'RATE_LIMITED']);
  if (granted?.status !== 201) return;
  await sendFile(granted.body, world.picture);
  const referenceImages = [{ uploadId: granted.body.uploadId }];
  const body = newBody(turn, { identityId: world.identities.citrine, referenceImages });
  note(turn, await turn.ask(generate, { path: '/generate', key: call.key, body }, accepted));
}

async function wrongCredential(turn: Turn): Promise<void> {
  const { random, account, ask } = turn;
  const wrong = random.pick([newApiKey(), `${account.keys[0]}x`, account.session, undefined, 'svc_live_']);
  await ask(generate, { path: '/generate', key: wrong, body: newBody(turn) }, ['INVALID_API_KEY']);
  await ask('GET /usage', { path: '/usage', key: account.keys[0] }, ['INVALID_SESSION']);
}

/** Each is refused before it costs anything. */
async function wrongBody(turn: Turn): Promise<void> {
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
  const key = turn.random.pick(turn.account.keys);
  await turn.ask(generate, { path: '/generate', key, body }, [code, 'RATE_LIMITED']);
}

async function hangUp(turn: Turn): Promise<void> {
  const { random, account } = turn;
  const key = random.pick(account.keys);
  const headers: Record<string, string> = random.chance(0.5) ? { accept: 'text/event-stream' } : {};
  const call = { path: '/generate', key, body: newBody(turn), headers, hangUpAfterMs: random.int(0, 150) };
  await turn.ask(generate, call, accepted);
}

/** Announces more of a body than it sends, and goes away. */
async function sendHalf({ random, account, world, ledger }: Turn): Promise<void> {
  const headers = {
    authorization: `Bearer ${random.pick(account.keys)}`,
    'content-type': 'application/json',
    'content-length': 1000,
  };
  const sent = request(`${world.baseUrl}/generate`, { method: 'POST', headers });
  // It is the client that breaks the connection.
  sent.on('error', () => {});
  sent.write('{"identityId":');
  await pause(50);
  sent.destroy();
  ledger.count(generate, 'hung up');
}

async function readAccount({ random, account, ask }: Turn): Promise<void> {
  const [operation, path] = random.pick([
    ['GET /usage', `/usage?licenseId=${random.pick(account.licenseIds)}`],
    ['GET /licenses', '/licenses'],
    ['GET /keys', '/keys'],
    ['GET /identities', '/identities'],
  ] as const);
  await ask(operation, { path, key: account.session }, [200, 'RATE_LIMITED']);
}

async function readPublic({ random, ask }: Turn): Promise<void> {
  const path = random.pick(['/health', '/health', '/openapi.json', '/nothing']);
  if (path === '/nothing') await ask('an unknown route', { path }, ['NOT_FOUND']);
  else await ask(`GET ${path}`, { path }, [200]);
}

interface Kind {
  /** How often, beside the others. */
  weight: number;
  act(turn: Turn): Promise<void>;
}

/** Everything that a client may do. */
export const kinds: Readonly<Record<string, Kind>> = {
  generate: { weight: 18, act: generateSimply },
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
  hangUp: { weight: 4, act: hangUp },
  sendHalf: { weight: 1, act: sendHalf },
  fetchAgain: { weight: 14, act: fetchAgain },
  list: { weight: 8, act: list },
  readAccount: { weight: 10, act: readAccount },
  liveAKey: { weight: 2, act: liveAKey },
  upload: { weight: 2, act: upload },
  wrongCredential: { weight: 4, act: wrongCredential },
  wrongBody: { weight: 5, act: wrongBody },
  readPublic: { weight: 2, act: readPublic },
};
