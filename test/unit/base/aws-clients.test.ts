import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  DynamoDBClient,
  GetItemCommand,
  ProvisionedThroughputExceededException,
} from '@aws-sdk/client-dynamodb';
import { withoutUnusedMiddleware, cachedMiddleware } from '../../../shared/base/aws-clients.ts';

interface Sent {
  headers: IncomingHttpHeaders;
  body: string;
}

const sent: Sent[] = [];
let refusals: string[] = [];
let endpoint: string;
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };

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

const settings = () => ({ endpoint, region: 'eu-west-1', credentials });
const leanClient = () => withoutUnusedMiddleware(new DynamoDBClient({ ...settings(), ...cachedMiddleware }));
const getOf = (id: string) => new GetItemCommand({ TableName: 'table', Key: { PK: { S: id } } });

describe('a client without unused middleware', () => {
  test('sends each command as it was given, and not the first one again', async () => {
    const client = leanClient();
    const answers = await Promise.all(['a', 'b', 'c'].map((id) => client.send(getOf(id))));

    expect(answers.map(({ Item: item }) => item!.PK!.S)).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ body }) => JSON.parse(body).Key.PK.S).sort()).toEqual(['a', 'b', 'c']);
  });

  test('sends what a plain one sends, but for what nobody reads', async () => {
    await new DynamoDBClient(settings()).send(getOf('a'));
    await leanClient().send(getOf('a'));
    const [plain, leaner] = sent.map(({ headers }) => Object.keys(headers).sort());

    const left = new Set(['user-agent', 'x-amz-user-agent', 'x-amzn-trace-id']);
    expect(leaner).toEqual(plain!.filter((name) => !left.has(name)));
    expect(sent[0]!.body).toBe(sent[1]!.body);
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
