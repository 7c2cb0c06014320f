import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateSync } from 'node:zlib';
import type { ModelEvent, ModelOutput, ModelRequest } from '../../shared/contracts/model-server.ts';

/** A model container that paints nothing: what it delivers is one small file, at once. */
export async function startQuickContainer(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.destroy());
  });
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

/** The demo world's identities fail and hang as they would with the painter. */
async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const request = JSON.parse((await readBody(req)) || '{}') as ModelRequest & { probe?: true };
  const emit = (event: ModelEvent) => void res.write(`${JSON.stringify(event)}\n`);
  res.writeHead(200, { 'content-type': 'application/x-ndjson' });
  if (request.probe) {
    emit({ event: 'ready', modelVersion: 'quick-1' });
    return void res.end();
  }
  const { failWith, neverFinishes } = request.identity.settings;
  emit({ event: 'started' });
  if (neverFinishes === true) return;
  if (typeof failWith === 'string') emit({ event: 'failed', reason: 'model_error', message: failWith });
  else {
    emit({ event: 'progress', step: 1, steps: request.numInferenceSteps });
    const referenceImagesUsed = await countReferences(request);
    const outputs = await Promise.all(request.outputs.map(({ putUrl }) => put(request, putUrl)));
    emit({ event: 'completed', outputs, referenceImagesUsed, modelVersion: 'quick-1' });
  }
  res.end();
}

/** Reads each as a model would: a link that does not open ends the request. */
async function countReferences({ references }: ModelRequest): Promise<number> {
  for (const { url } of references) {
    const { ok } = await fetch(url);
    if (!ok) throw new Error('a reference can not be read');
  }
  return references.length;
}

async function put({ width, height, outputFormat }: ModelRequest, putUrl: string): Promise<ModelOutput> {
  const headers = { 'content-type': `image/${outputFormat}` };
  await fetch(putUrl, { method: 'PUT', headers, body: picture });
  return { bytes: picture.length, sha256: createHash('sha256').update(picture).digest('hex'), width, height };
}

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** It need not be the picture that was ordered: nobody looks at it. */
const picture: Uint8Array<ArrayBuffer> = Uint8Array.from(deflateSync(Buffer.from('a picture')));
