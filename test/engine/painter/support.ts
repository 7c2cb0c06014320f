import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { plainIdentity, sampleRequest } from '../model-contract/sample-request.ts';

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
  return { ...sampleRequest(links), ...identity({}), ...changes };
}

export function identity(settings: Record<string, unknown>): Record<string, unknown> {
  return { identity: { ...plainIdentity, settings: { style: 'flint', ...settings } } };
}
