import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  DynamoDBClient,
  GetItemCommand,
  ProvisionedThroughputExceededException,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import * as fc from 'fast-check';
import { lean, leanOptions, Sha256 } from '../../shared/aws-clients.ts';
import { openTable } from '../../shared/store/table.ts';

interface Sent {
  headers: IncomingHttpHeaders;
  body: string;
}

const sent: Sent[] = [];
let refusals: string[] = [];
let endpoint: string;
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };
const region = 'eu-west-1';

const server = createServer(async (req, res) => {
  let body = '';
  for await (const chunk of req) body += chunk;
  sent.push({ headers: req.headers, body });
  const refusal = refusals.shift();
  res.writeHead(refusal ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' });
  res.end(JSON.stringify(refusal ? { __type: refusal } : { Item: { PK: JSON.parse(body).Key.PK } }));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => {
  sent.length = 0;
  refusals = [];
});

const settings = () => ({ endpoint, region, credentials });
const plainClient = () => new DynamoDBClient(settings());
const leanClient = () => lean(new DynamoDBClient({ ...settings(), ...leanOptions }));
const getOf = (id: string) => new GetItemCommand({ TableName: 'table', Key: { PK: { S: id } } });

/** What the SDK's own signer, by its own hash, says of a request that came. */
async function signatureOf({ headers, body }: Sent): Promise<string> {
  const authorization = headers.authorization!;
  const signed = /SignedHeaders=([^,]+)/.exec(authorization)![1]!.split(';');
  const signer = new SignatureV4({
    service: 'dynamodb',
    region,
    credentials,
    sha256: plainClient().config.sha256 as never,
  });
  const [, year, month, day, hour, minute, second] = /^(....)(..)(..)T(..)(..)(..)Z$/.exec(
    String(headers['x-amz-date']),
  )!;
  const { hostname, port } = new URL(endpoint);
  const again = await signer.sign(
    {
      method: 'POST',
      protocol: 'http:',
      hostname,
      port: Number(port),
      path: '/',
      query: {},
      headers: Object.fromEntries(signed.map((name) => [name, String(headers[name])])),
      body,
    },
    { signingDate: new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) },
  );
  return again.headers.authorization!;
}

describe('a lean client', () => {
  test('sends each command as it was given, and not the first one again', async () => {
    const client = leanClient();
    const answers = await Promise.all(['a', 'b', 'c'].map((id) => client.send(getOf(id))));

    expect(answers.map(({ Item: item }) => item!.PK!.S)).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ body }) => JSON.parse(body).Key.PK.S).sort()).toEqual(['a', 'b', 'c']);
  });

  test('sends what a plain one sends, but for what nobody reads', async () => {
    await plainClient().send(getOf('a'));
    await leanClient().send(getOf('a'));
    const [plain, leaner] = sent.map(({ headers }) => Object.keys(headers).sort());

    const left = new Set(['user-agent', 'x-amz-user-agent', 'x-amzn-trace-id']);
    expect(leaner).toEqual(plain!.filter((name) => !left.has(name)));
    expect(sent[0]!.body).toBe(sent[1]!.body);
  });

  test.each(['first', 'later'])('signs its %s request as the SDK does', async (which) => {
    const client = leanClient();
    await client.send(getOf('a'));
    if (which === 'later') await client.send(getOf('b'));

    const last = sent.at(-1)!;
    expect(last.headers.authorization).toBe(await signatureOf(last));
  });

  test('signs with new credentials as soon as its provider has them', async () => {
    let id = 0;
    const fresh = async () => ({ ...credentials, accessKeyId: `AKID${id++}`, expiration: new Date(0) });
    const client = lean(new DynamoDBClient({ ...settings(), credentials: fresh, ...leanOptions }));
    await client.send(getOf('a'));
    await client.send(getOf('b'));

    const used = sent.map(({ headers }) => /Credential=(\w+)/.exec(headers.authorization!)![1]);
    expect(new Set(used).size).toBe(2);
  });

  test('tries what was throttled again, and throws the SDK’s own errors', async () => {
    const throttled = 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException';
    refusals = [throttled];
    const client = leanClient();
    await expect(client.send(getOf('a'))).resolves.toMatchObject({ $metadata: { attempts: 2 } });

    refusals = Array<string>(5).fill(throttled);
    await expect(client.send(getOf('a'))).rejects.toThrow(ProvisionedThroughputExceededException);
  });
});

test('the document client of a table sends each command as it was given', async () => {
  const { documents } = openTable('table');
  expect(documents.config.cacheMiddleware).toBe(false);
  const client = lean(new DynamoDBClient({ ...settings(), ...leanOptions, cacheMiddleware: false }));
  const own = DynamoDBDocumentClient.from(client);
  for (const id of ['a', 'b']) {
    const { Item: item } = await own.send(new GetCommand({ TableName: 'table', Key: { PK: id } }));
    expect(item).toEqual({ PK: id });
  }
});

describe('Sha256', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });

  test('is SHA-256, of all its parts', () =>
    fc.assert(
      fc.asyncProperty(fc.array(bytes, { maxLength: 4 }), async (parts) => {
        const [ours, theirs] = [new Sha256(), createHash('sha256')];
        for (const part of parts) [ours, theirs].forEach((hash) => hash.update(part));
        expect(Buffer.from(await ours.digest())).toEqual(theirs.digest());
      }),
    ));

  test('is HMAC-SHA-256 of its secret, whether it saw that before or not', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.string({ unit: 'binary' }), bytes), { minLength: 1, maxLength: 30 }),
        bytes,
        async (secrets, data) => {
          for (const secret of [...secrets, ...secrets]) {
            const ours = new Sha256(secret);
            ours.update(data);
            expect(Buffer.from(await ours.digest())).toEqual(
              createHmac('sha256', secret).update(data).digest(),
            );
          }
        },
      ),
    ));
});
