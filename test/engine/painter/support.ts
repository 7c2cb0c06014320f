import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inMs } from '../model-contract/invocation.ts';

export interface Upload {
  path: string;
  bytes: Buffer;
  sha256: string;
}

export interface Sink {
  /** A link for a name; the last upload to it is in `uploads`. */
  link(name: string): string;
  uploads: Upload[];
  close(): Promise<void>;
}

/** A place that takes whatever is put to it. */
export async function startSink(): Promise<Sink> {
  const uploads: Upload[] = [];
  const server = createServer((request, response) => void take(request, response));
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const bytes = await readAll(request);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    uploads.push({ path: request.url ?? '', bytes, sha256 });
    response.end();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    link: (name) => `http://127.0.0.1:${port}/${name}`,
    uploads,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A request that fits the contract, with one output for each link. */
export function modelRequest(
  links: string[],
  changes: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    requestId: '0198c0de-0000-7000-8000-000000000001',
    deadline: inMs(60_000),
    prompt: 'a quiet sea',
    negativePrompt: '',
    seed: 11,
    numInferenceSteps: 20,
    guidanceScale: 7.5,
    width: 512,
    height: 512,
    numOutputs: links.length,
    referenceMode: 'reference',
    preserveBranding: false,
    references: [],
    identity: { id: 'idn_a', adapterUrl: null, adapterVersion: null, settings: { style: 'flint' } },
    outputs: links.map((putUrl) => ({ putUrl })),
    ...changes,
  };
}

export function identity(settings: Record<string, unknown>): Record<string, unknown> {
  return {
    identity: {
      id: 'idn_a',
      adapterUrl: null,
      adapterVersion: null,
      settings: { style: 'flint', ...settings },
    },
  };
}
