/**
 * DynamoDB, S3 and SageMaker, all answering at once: what is measured in front of it is
 * what the function does. Rows of a real table come from a file; a write changes nothing, so that every
 * request meets the same rows. Run as: node stub.ts PORT FIXTURE_FILE
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { payloadPart } from '../../local/sagemaker/frames.ts';
import type { StubFixture } from './fixture.ts';

type Row = Record<string, { S?: string }>;
type Key = { PK: { S: string }; SK: { S: string } };

const fixture: StubFixture = JSON.parse(readFileSync(process.argv[3]!, 'utf8'));
const rows = new Map(fixture.rows.map((row: Row) => [`${row.PK!.S}\n${row.SK!.S}`, row]));
const rowOf = ({ PK, SK }: Key) => rows.get(`${PK.S}\n${SK.S}`);

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const empty = json({});
const noItems = json({ Items: [], Count: 0, ScannedCount: 0 });

const operations: Record<string, (body: any) => Buffer> = {
  GetItem: ({ Key }) => {
    const row = rowOf(Key);
    return row ? json({ Item: row }) : empty;
  },
  BatchGetItem: ({ RequestItems }) => {
    const [table] = Object.keys(RequestItems);
    const found = RequestItems[table!].Keys.flatMap((key: Key) => rowOf(key) ?? []);
    return json({ Responses: { [table!]: found }, UnprocessedKeys: {} });
  },
  UpdateItem: ({ Key, ReturnValues }) => (ReturnValues ? json({ Attributes: rowOf(Key) }) : empty),
  PutItem: () => empty,
  TransactWriteItems: () => empty,
  Query: () => noItems,
};

const event = (value: object) => payloadPart(Buffer.from(`${JSON.stringify(value)}\n`));
const modelEvents = [
  event({ event: 'started' }),
  event({
    event: 'completed',
    outputs: [{ bytes: fixture.imageBytes, sha256: 'a'.repeat(64), width: 1024, height: 1024 }],
    referenceImagesUsed: 0,
    modelVersion: 'bench-1',
  }),
];

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await buffer(req);
  const { method, url = '' } = req;
  if (method === 'HEAD') return void res.writeHead(200, { 'content-length': fixture.imageBytes }).end();
  if (method !== 'POST') return send(res, 'application/json', empty);
  if (url.startsWith('/endpoints/')) {
    res.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    for (const frame of modelEvents) res.write(frame);
    return void res.end();
  }
  const name = String(req.headers['x-amz-target']).split('.')[1] ?? '';
  const operation = operations[name];
  if (operation === undefined)
    return void res.writeHead(400).end(`The stub does not know ${method} ${url} ${name}.`);
  send(res, 'application/x-amz-json-1.0', operation(JSON.parse(body.toString())));
}

function send(res: ServerResponse, type: string, body: Buffer): void {
  res.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body);
}

const server = createServer((req, res) => void answer(req, res));
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1');
