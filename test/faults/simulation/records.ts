import { isFinal } from '../../../shared/generations/generation.ts';
import type { Cast } from './cast.ts';
import { call, type Reply } from './functions.ts';
import { newRun } from './runs.ts';
import type { Key } from './setup.ts';
import type { World } from './world.ts';

/** GET /generate/{requestId}: what is stored is what is said, and only its owner hears it. */
export async function fetchRecord(cast: Cast, key: Key, requestId: string): Promise<Reply | null> {
  const { world, functions } = cast;
  const run = newRun(`#${cast.nextNumber()} ${key.name} GET`, world.scheduler.now(), { mayFail: true });
  const from = world.moment();
  const reply = await call(run, functions.get, {
    method: 'GET',
    resource: '/generate/{requestId}',
    pathParameters: { requestId },
    headers: { authorization: `Bearer ${key.raw}` },
  });
  if (reply === null) return null;
  const body = JSON.parse(reply.body);
  world.history.note(run.name, `→ ${reply.status} ${body.code ?? body.status}`);
  world.counts.add('re-fetches');
  const known = [401, 404, 429, 503].includes(reply.status);
  const wrong =
    reply.status === 200
      ? world.checker.deletions.wasToldBefore(requestId, from)
        ? `${requestId} was read, which was deleted before`
        : wrongRecord(world, requestId, body, reply)
      : known
        ? null
        : `GET answered ${reply.body}`;
  if (wrong !== null) {
    world.violations.push(`${run.name}: ${wrong}`);
    world.history.note('!!', wrong);
  }
  return reply;
}

const ranks = ['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT'];

function wrongRecord(
  { checker }: World,
  requestId: string,
  body: Record<string, any>,
  { headers }: Reply,
): string | null {
  const { item } = checker.record(requestId)!;
  const saysWhen = Number(headers['retry-after']) > 0;
  if (saysWhen === isFinal(body.status))
    return `a ${body.status} request with Retry-After ${headers['retry-after']}`;
  const charged = body.status === 'COMPLETED' ? item.credits : 0;
  if (body.creditsCharged !== charged)
    return `a ${body.status} request with ${body.creditsCharged} credits charged`;
  const links = body.status === 'COMPLETED' ? item.numOutputs : 0;
  if (body.outputs.length !== links) return `a ${body.status} request with ${body.outputs.length} links`;
  // It may have gone on since it was read, but never back, and not at all from a final state.
  const wentBack = ranks.indexOf(body.status) > ranks.indexOf(item.status);
  return wentBack || (body.completedAt !== null && body.status !== item.status)
    ? `${body.status} was read of what is ${item.status}`
    : null;
}
