import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen, type RunningServer } from '../../local/http/server.ts';
import type { ModelOutput, ModelRequest } from '../../shared/model/contract.ts';

/** A model container that is always ready and leaves the answer to each request to a function. */
export function startContainer(
  answer: (request: ModelRequest, res: ServerResponse) => void | Promise<void>,
): Promise<RunningServer> {
  const receive = async (req: IncomingMessage, res: ServerResponse) => {
    const request = req.method === 'POST' ? ((await json(req)) as ModelRequest & { probe?: true }) : null;
    if (request !== null && !request.probe) return answer(request, res);
    emit(res, { event: 'ready', modelVersion: 'quick-1' });
    res.end();
  };
  return listen(createServer((req, res) => void receive(req, res).catch(() => res.destroy())));
}

/**
 * A model container that generates nothing: it delivers one small file at once. The identities of the demo data fail and
 * hang as with the painter.
 */
export function startQuickContainer(): Promise<RunningServer> {
  return startContainer(async (request, res) => {
    const { failWith, neverFinishes } = request.identity.settings;
    emit(res, { event: 'started' });
    if (neverFinishes === true) return;
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
