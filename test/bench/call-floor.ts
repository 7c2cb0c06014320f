/**
 * What one strong read of an item costs a process: by the SDK's document client, by the client below it as the service
 * uses it, and by nothing but a signed request over a kept connection. Run in a process of its own: node call-floor.ts
 * STUB_URL WORLD_FILE CALLS; prints one line of JSON, microseconds of CPU a call.
 */
import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import { lean, leanOptions } from '../../shared/aws-clients.ts';
import { send } from './overhead/load.ts';
import { functionEnvironment, region, type StubWorld } from './overhead/stub-world.ts';
import { median } from './statistics.ts';

const [stubUrl, worldFile, calls] = process.argv.slice(2) as [string, string, string];
const { rows }: StubWorld = JSON.parse(readFileSync(worldFile, 'utf8'));
const row = unmarshall(rows.find(({ SK }) => SK.S === 'LICENSE')!);
const input = { TableName: 'image-generation', Key: { PK: row.PK, SK: row.SK }, ConsistentRead: true };
Object.assign(process.env, functionEnvironment(stubUrl));

const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const client = lean(new DynamoDBClient(leanOptions));

/** What the signer asks for, by Node.js's own cryptography. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | Uint8Array) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
  }
  update(data: Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env as Record<string, string>;
const signer = new SignatureV4({
  service: 'dynamodb',
  region,
  sha256: Sha256 as never,
  credentials: {
    accessKeyId: AWS_ACCESS_KEY_ID!,
    secretAccessKey: AWS_SECRET_ACCESS_KEY!,
    sessionToken: AWS_SESSION_TOKEN!,
  },
});
const agent = new Agent({ keepAlive: true });
const { hostname, host, port } = new URL(stubUrl);

async function bare(): Promise<unknown> {
  const body = JSON.stringify({ ...input, Key: marshall(input.Key) });
  const unsigned = {
    method: 'POST',
    protocol: 'http:',
    hostname,
    port: Number(port),
    path: '/',
    query: {},
    headers: {
      host,
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.GetItem',
    },
    body,
  };
  const { headers } = await signer.sign(unsigned);
  const answer = await send({ url: stubUrl, headers, body, problem: () => null }, agent);
  return unmarshall(JSON.parse(answer.body).Item);
}

const ways: Record<string, () => Promise<unknown>> = {
  document: async () => (await documents.send(new GetCommand(input))).Item,
  client: async () =>
    unmarshall((await client.send(new GetItemCommand({ ...input, Key: marshall(input.Key) }))).Item!),
  bare,
};

async function cpuUs(way: () => Promise<unknown>, times: number): Promise<number> {
  const begin = process.cpuUsage();
  for (let i = 0; i < times; i++) {
    const item = (await way()) as { PK?: string };
    if (item.PK !== row.PK) throw new Error('That is another item.');
  }
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / times;
}

const figures: Record<string, number[]> = { document: [], client: [], bare: [] };
for (const way of Object.values(ways)) await cpuUs(way, Number(calls));
for (let round = 0; round < 5; round++) {
  for (const [name, way] of Object.entries(ways)) figures[name]!.push(await cpuUs(way, Number(calls)));
}
const medianOf = Object.fromEntries(Object.entries(figures).map(([name, all]) => [name, median(all)]));
process.stdout.write(`${JSON.stringify(medianOf)}\n`);
process.exit();
