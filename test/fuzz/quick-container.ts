import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { ModelOutput, ModelRequest } from '../../shared/model/contract.ts';

export interface Container {
  url: string;
  close(): Promise<void>;
}

/** A model container that is always ready and leaves the answer to each request to a function. */
export async function startContainer(
  answer: (request: ModelRequest, res: ServerResponse) => void | Promise<void>,
): Promise<Container> {
  const receive = async (req: IncomingMessage, res: ServerResponse) => {
    const request = req.method === 'POST' ? ((await json(req)) as ModelRequest & { probe?: true }) : null;
    if (request !== null && !request.probe) return answer(request, res);
    emit(res, { event: 'ready', modelVersion: 'quick-1' });
    res.end();
  };
  const server = createServer((req, res) => void receive(req, res).catch(() => res.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * A model container that paints nothing: it delivers one small file at once. The identities of the demo data fail and
 * hang as with the painter.
 * @param options.slowUntil what identities that take their time wait for
 */
export function startQuickContainer(options: { slowUntil?: Promise<void> } = {}): Promise<Container> {
  return startContainer(async (request, res) => {
    const { failWith, neverFinishes, delaySeconds } = request.identity.settings;
    emit(res, { event: 'started' });
    if (neverFinishes === true) return;
    if (delaySeconds !== undefined) await options.slowUntil;
    if (typeof failWith === 'string') {
      emit(res, { event: 'failed', reason: 'model_error', message: failWith });
      res.end();
    } else await deliver(request, res);
  });
}

export function emit(res: ServerResponse, event: unknown): void {
  res.write(`${JSON.stringify(event)}\n`);
}

/** Reads each reference as a model would (a broken link ends the request), stores the images, and says so. */
export async function deliver(request: ModelRequest, res: ServerResponse): Promise<void> {
  emit(res, { event: 'progress', step: 1, steps: request.numInferenceSteps });
  for (const { url } of request.references) {
    const { ok } = await fetch(url);
    if (!ok) throw new Error('a reference can not be read');
  }
  const outputs = await Promise.all(request.outputs.map(({ putUrl }) => put(request, putUrl)));
  const referenceImagesUsed = request.references.length;
  emit(res, { event: 'completed', outputs, referenceImagesUsed, modelVersion: 'quick-1' });
  res.end();
}

/** Not the requested picture, because no test looks at it. */
const picture = Buffer.from('a picture');

async function put({ width, height, outputFormat }: ModelRequest, putUrl: string): Promise<ModelOutput> {
  const headers = { 'content-type': `image/${outputFormat}` };
  const { ok } = await fetch(putUrl, { method: 'PUT', headers, body: picture });
  if (!ok) throw new Error('a link can not be written');
  return { bytes: picture.length, sha256: createHash('sha256').update(picture).digest('hex'), width, height };
}
