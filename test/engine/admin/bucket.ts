import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createObjectStore } from '../../../local/s3/server.ts';

/** The object store of a local service, alone. Its files lie where the service's own would. */
export async function startBucket(
  folder: string,
  bucketName: string,
  { region, ...credentials }: { region: string; accessKeyId: string; secretAccessKey: string },
): Promise<{ url: string; close(): Promise<void> }> {
  const objects = await createObjectStore({
    folder: join(folder, 'objects'),
    bucketName,
    credentials,
    region,
  });
  const server = createServer((req, res) => void objects.handle(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
