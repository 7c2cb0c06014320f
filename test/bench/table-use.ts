import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { marshall } from '@aws-sdk/util-dynamodb';
import { listen } from '../../local/http/server.ts';
import { emit, putOutputs, type Behaviour } from '../engine/generations/fixture.ts';
import {
  identity,
  startCountingFixture,
  type Counted,
  type CountingFixture,
} from '../infra/costs/counting.ts';
import { forward } from '../support/forward.ts';
import { allItems } from '../support/table-scan.ts';
import { prompt, type StubFixture } from './fixture.ts';
import type { Section } from './section.ts';

/** Long beside what a call of the engine takes, and short beside the SDK's patience. */
const slowMs = 150;
/** One image and its preview, by links that the function signed. */
const putsByModel = 2;

/**
 * Generations on the local engines, counted: one as it is, one with a prompt of 1,000 characters, one with slow calls. Also the
 * rows that the first one left, for the stub that stands in for the table.
 */
export async function measureTableUse(): Promise<{ section: Section; fixture: StubFixture }> {
  const before = { ...process.env };
  const fixture = await startCountingFixture();
  const slow = await startSlowProxy(process.env.AWS_ENDPOINT_URL_DYNAMODB!);
  // Before the function is called for the first time, when it reads this.
  process.env.AWS_ENDPOINT_URL_DYNAMODB = slow.url;
  try {
    const { identityId } = identity;
    const body = { identityId, prompt, width: 1024, height: 1024 };
    // The first makes the caller's rate log and the period's item.
    await fixture.generate(body);
    const rows = (await allItems(fixture.table)).map((item) => marshall(item));
    const usual = await fixture.generate(body);
    const long = await fixture.generate({ ...body, prompt: prompt.repeat(10) });
    const trips = await measureTrips(fixture, slow, body);
    fixture.forgetCatalog();
    const unremembered = await measureTrips(fixture, slow, body);
    return {
      section: sectionOf({ trips, unremembered, usual, long }),
      fixture: { rows, imageBytes: 1_244_620, caller: { key: fixture.key, identityId } },
    };
  } finally {
    await slow.close();
    await fixture.close();
    // The engines' addresses are nobody else's.
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

interface Span {
  beginMs: number;
  endMs: number;
}

interface SlowCall extends Span {
  /** Of DynamoDB, such as GetItem. */
  operation: string;
}

type SlowProxy = Awaited<ReturnType<typeof startSlowProxy>>;

/** Stands before an engine and can make every call take long, so that what waits for what can be seen. */
async function startSlowProxy(target: string) {
  const calls: SlowCall[] = [];
  let delayMs = 0;
  const server = createServer(async (req, res) => {
    const beginMs = performance.now();
    const body = await buffer(req);
    await sleep(delayMs);
    const answer = await forward(target, req, body);
    res.writeHead(answer.statusCode!, answer.headers);
    await once(answer.pipe(res), 'close');
    calls.push({
      operation: String(req.headers['x-amz-target']).split('.')[1] ?? '',
      beginMs,
      endMs: performance.now(),
    });
  });
  return {
    ...(await listen(server)),
    /** Of each call from now on, beside what the engine takes. */
    delay: (ms: number) => void (delayMs = ms),
    take: () => calls.splice(0),
  };
}

/** The model takes its time as well, so that what is written while it works is not taken for what comes after it. */
async function measureTrips(fixture: CountingFixture, slow: SlowProxy, body: object) {
  let calledMs = Number.NaN;
  let completedMs = Number.NaN;
  const generateSlowly: Behaviour = async (request, res) => {
    calledMs = performance.now();
    emit(res, { event: 'started' });
    const outputs = await putOutputs(request);
    await sleep(4 * slowMs);
    completedMs = performance.now();
    emit(res, { event: 'completed', outputs, referenceImagesUsed: 0, modelVersion: 'bench-1' });
    res.end();
  };
  const { state } = fixture.container;
  const usually = state.behaviour;
  slow.take();
  slow.delay(slowMs);
  state.behaviour = generateSlowly;
  try {
    await fixture.generate(body);
  } finally {
    slow.delay(0);
    state.behaviour = usually;
  }
  const calls = slow.take().sort((a, b) => a.beginMs - b.beginMs);
  const tripsBetween = (fromMs: number, toMs: number) =>
    sequentialTrips(calls.filter(({ beginMs }) => beginMs >= fromMs && beginMs < toMs));
  return {
    before: tripsBetween(0, calledMs),
    during: tripsBetween(calledMs, completedMs),
    after: tripsBetween(completedMs, Infinity),
    calls: calls.map(({ operation }) => operation),
  };
}

/**
 * Calls that waited for each other: the longest chain in which each began after the one before it had ended. Calls
 * side by side are one trip.
 */
export function sequentialTrips(spans: readonly Span[]): number {
  const sorted = [...spans].sort((a, b) => a.beginMs - b.beginMs);
  const depths: number[] = [];
  for (const { beginMs } of sorted) {
    const before = depths.filter((_, k) => sorted[k]!.endMs <= beginMs);
    depths.push(1 + Math.max(0, ...before));
  }
  return Math.max(0, ...depths);
}

type Trips = Awaited<ReturnType<typeof measureTrips>>;

function sectionOf(
  found: Record<'trips' | 'unremembered', Trips> & Record<'usual' | 'long', Counted>,
): Section {
  const { trips, unremembered, usual, long } = found;
  const units = ({ readUnits, tableWriteUnits, indexWriteUnits }: Counted) =>
    `${readUnits} read, ${tableWriteUnits + indexWriteUnits} write (${indexWriteUnits} of them the index's)`;
  const { GET = 0, PUT = 0 } = usual.objectRequests;
  return {
    title: 'DynamoDB',
    headings: ['what', 'counted'],
    rows: [
      ['trips, one after another, before the model is called', String(trips.before)],
      ['the same, for an identity that was not read within ten seconds', String(unremembered.before)],
      ['while the model works', String(trips.during)],
      ['after the model', String(trips.after)],
      ['calls in all', `${trips.calls.length}: ${trips.calls.join(', ')}`],
      ['units, prompt of 100 characters', units(usual)],
      ['units, prompt of 1,000 characters', units(long)],
      ['requests of the function for the bytes of an image', String(GET + PUT - putsByModel)],
    ],
  };
}
