import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModelOutput, ModelRequest } from '../../shared/contracts/model-server.ts';
import { pause } from '../support/until.ts';
import { seededRandom } from '../faults/simulation/random.ts';

/** What happens to a request, and to how many in a thousand. */
const behaviours = {
  delivers: 850,
  /** It says so in the contract's words. */
  fails: 30,
  isBusy: 20,
  /** After the deadline, when nobody waits any more. */
  isLate: 10,
  isSilent: 10,
  writesNoJson: 15,
  writesUnknownEvents: 10,
  writesAnEndlessLine: 5,
  /** It says that it has delivered, and has not. */
  deliversNothing: 15,
  diesAtOnce: 15,
  diesWhilePainting: 15,
  answers500: 5,
} as const;
type Behaviour = keyof typeof behaviours;

export interface FaultyContainer {
  url: string;
  /** How often it did what. */
  counts: Record<string, number>;
  /** The requests that it was sent: each must have had a reservation. */
  requestIds: Set<string>;
  close(): Promise<void>;
}

/** A model container that delivers a small file at once, except where the seed wants a fault. */
export async function startFaultyContainer(seed: number): Promise<FaultyContainer> {
  const random = seededRandom(seed);
  const counts: Record<string, number> = {};
  const requestIds = new Set<string>();
  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const request = JSON.parse((await readBody(req)) || '{}') as ModelRequest & { probe?: true };
    if (request.probe) {
      emit(res, { event: 'ready', modelVersion: 'load-1' });
      return void res.end();
    }
    requestIds.add(request.requestId);
    const { failWith, neverFinishes } = request.identity.settings;
    const drawn = random.weighted<Behaviour>(behaviours);
    const behaviour = neverFinishes === true ? 'isSilent' : failWith === undefined ? drawn : 'fails';
    counts[behaviour] = (counts[behaviour] ?? 0) + 1;
    await behave[behaviour](request, res);
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    requestIds,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

type Behave = (request: ModelRequest, res: ServerResponse) => void | Promise<void>;

const behave: Record<Behaviour, Behave> = {
  delivers: deliver,
  fails: (_request, res) => say(res, { event: 'failed', reason: 'model_error', message: 'It broke.' }),
  isBusy: (_request, res) => say(res, { event: 'failed', reason: 'busy', message: 'Too many wait.' }),
  async isLate(request, res) {
    emit(res, { event: 'started' });
    await pause(Date.parse(request.deadline) - Date.now() + 500);
    await complete(request, res);
  },
  isSilent: (_request, res) => emit(res, { event: 'started' }),
  writesNoJson: (_request, res) => void res.end('{"event":"started"}\n<html>\n'),
  writesUnknownEvents: (_request, res) => say(res, { event: 'dreaming' }),
  writesAnEndlessLine(_request, res) {
    emit(res, { event: 'started' });
    res.end('x'.repeat(2 * 1024 * 1024));
  },
  deliversNothing(request, res) {
    const { width, height } = request;
    const outputs = request.outputs.map(() => ({ bytes: 9, sha256: '0'.repeat(64), width, height }));
    say(res, { event: 'completed', outputs, referenceImagesUsed: 0, modelVersion: 'load-1' });
  },
  diesAtOnce: (_request, res) => void res.destroy(),
  async diesWhilePainting(_request, res) {
    emit(res, { event: 'started' });
    await pause(20);
    res.destroy();
  },
  answers500: (_request, res) => void res.writeHead(500).end('out of memory'),
};

async function deliver(request: ModelRequest, res: ServerResponse): Promise<void> {
  emit(res, { event: 'started' });
  for (const { url } of request.references) {
    const reference = await fetch(url);
    if (!reference.ok) throw new Error('a reference can not be read');
    await reference.arrayBuffer();
  }
  emit(res, { event: 'progress', step: 1, steps: request.numInferenceSteps });
  await complete(request, res);
}

async function complete(request: ModelRequest, res: ServerResponse): Promise<void> {
  const outputs = await Promise.all(request.outputs.map(({ putUrl }, i) => put(request, putUrl, i)));
  const referenceImagesUsed = request.references.length;
  emit(res, { event: 'completed', outputs, referenceImagesUsed, modelVersion: 'load-1' });
  res.end();
}

async function put(request: ModelRequest, putUrl: string, i: number): Promise<ModelOutput> {
  const { seed, width, height, outputFormat } = request;
  const picture = Buffer.from(`picture ${seed + i}`);
  const headers = { 'content-type': `image/${outputFormat}` };
  const { ok } = await fetch(putUrl, { method: 'PUT', headers, body: picture });
  if (!ok) throw new Error('a link can not be written');
  return { bytes: picture.length, sha256: createHash('sha256').update(picture).digest('hex'), width, height };
}

function say(res: ServerResponse, event: unknown): void {
  emit(res, { event: 'started' });
  emit(res, event);
  res.end();
}

function emit(res: ServerResponse, event: unknown): void {
  res.write(`${JSON.stringify(event)}\n`);
}

async function readBody(req: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of req) body += String(chunk);
  return body;
}
