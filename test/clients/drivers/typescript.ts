import { createInterface } from 'node:readline';
import { createClient, type Client } from '../../../clients/typescript/src/index.ts';
import type { Command, Outcome } from '../driver.ts';

/** Runs commands by the TypeScript client, side by side. */

// A stalled connection is noticed after so long.
const timeoutMs = 10_000;

/** Images are asked for at the proxy. */
function throughProxy({ url: storageUrl, proxyUrl }: Command['storage']): typeof fetch {
  return (url, init) => fetch(String(url).replace(storageUrl, proxyUrl), init);
}

const kinds: Record<Command['kind'], (client: Client, command: Command) => ReturnType<Client['generate']>> = {
  generate: (client, { body, idempotencyKey }) => client.generate(body, { idempotencyKey }),
  async: async (client, { body, idempotencyKey }) =>
    (await client.respondAsync(body, { idempotencyKey })).wait(),
  async events(client, { body, idempotencyKey }) {
    for await (const event of client.generateEvents(body, { idempotencyKey })) {
      if (event.type === 'completed') return event.result;
    }
    throw new Error('the events ended without a result');
  },
};

async function run(command: Command): Promise<Outcome> {
  const { call, apiKey, baseUrl, storage, kind } = command;
  try {
    const client = createClient({ apiKey, baseUrl, timeoutMs, fetch: throughProxy(storage) });
    const { requestId, creditsCharged, images } = await kinds[kind](client, command);
    const files = await Promise.all(images.map((image) => image.bytes()));
    const texts = files.map((file) => Buffer.from(file).toString());
    return { call, requestId, creditsCharged, images: texts };
  } catch (error) {
    return { call, error: `${(error as Error).name}: ${(error as Error).message}` };
  }
}

for await (const line of createInterface(process.stdin)) {
  void run(JSON.parse(line) as Command).then((outcome) => console.log(JSON.stringify(outcome)));
}
