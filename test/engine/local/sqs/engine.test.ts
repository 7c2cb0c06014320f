import { afterEach, expect, test } from '@jest/globals';
import { startSqs, type Sqs } from '../../../../local/sqs/engine.ts';
import type { QueueOptions } from '../../../../local/sqs/queue.ts';
import { credentials, region, signHeaders } from '../s3/support.ts';

interface Message {
  messageId: string;
  receiptHandle: string;
  body: string;
  attributes: Record<string, string>;
}

let engine: Sqs;
/** What each function got, in order. */
let brought: Message[] = [];
afterEach(() => engine.close());

const hourMs = 3_600_000;
const defaults = { maxConcurrency: 10, visibilityMs: hourMs };
const record = ({ Records }: { Records: object[] }) => {
  brought.push(...(Records as Message[]));
  return Promise.resolve(Records.at(-1) as Message);
};
const failed = ({ messageId }: Message) => ({ batchItemFailures: [{ itemIdentifier: messageId }] });

/** Starts one queue whose function this is, and perhaps another of its dead letters. */
async function open(
  run: (message: Message) => Promise<unknown>,
  changes: Partial<QueueOptions> = {},
  deadLetters: Record<string, QueueOptions> = {},
): Promise<void> {
  brought = [];
  const work = { ...defaults, run: async (event: any) => run(await record(event)), ...changes };
  engine = await startSqs({ queues: { work, ...deadLetters }, credentials, region });
}

interface Changes {
  queueUrl?: string;
  secretAccessKey?: string;
  sent?: string;
}

async function call(operation: string, members: object, changes: Changes = {}) {
  const { secretAccessKey = credentials.secretAccessKey } = changes;
  const body = JSON.stringify({ QueueUrl: changes.queueUrl ?? engine.urlOf('work'), ...members });
  const headers = { 'x-amz-target': `AmazonSQS.${operation}`, 'content-type': 'application/x-amz-json-1.0' };
  const signer = { service: 'sqs', credentials: { ...credentials, secretAccessKey } };
  const request = { method: 'POST', path: '/', headers, body };
  const signed = await signHeaders(engine.url, request, signer);
  const answer = await fetch(engine.url, { method: 'POST', headers: signed, body: changes.sent ?? body });
  const { status } = answer;
  return { status, ...((await answer.json()) as any) };
}

const send = (body: string, changes?: Changes) =>
  call('SendMessage', { MessageBody: body, MessageGroupId: 'tenant' }, changes);
const bringBack = ({ receiptHandle }: Message, seconds: number) =>
  call('ChangeMessageVisibility', { ReceiptHandle: receiptHandle, VisibilityTimeout: seconds });
/** Resolves once the function got so many messages. */
function arrivals(count: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, note: () => void (brought.length === count && resolve()) };
}

test('a message goes to its function once, as an event of SQS, and is deleted', async () => {
  await open(() => Promise.resolve());
  const { MessageId, MD5OfMessageBody } = await send('{"a":"é"}');
  await engine.idle();
  expect(brought).toEqual([
    {
      messageId: MessageId,
      receiptHandle: expect.any(String),
      body: '{"a":"é"}',
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: expect.stringMatching(/^\d{13}$/),
        ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
        SenderId: 'local',
        MessageGroupId: 'tenant',
      },
      messageAttributes: {},
      md5OfBody: MD5OfMessageBody,
      eventSource: 'aws:sqs',
      eventSourceARN: `arn:aws:sqs:${region}:000000000000:work`,
      awsRegion: region,
    },
  ]);
  expect([engine.running(), engine.messages()]).toEqual([0, 0]);
});

test('a message whose function throws comes again when its queue has hidden it, with another handle', async () => {
  const two = arrivals(2);
  await open(
    async () => {
      two.note();
      if (brought.length === 1) throw new Error('not yet');
    },
    { visibilityMs: 10 },
  );
  await send('again');
  await two.promise;
  await engine.idle();
  expect(brought.map(({ attributes }) => attributes.ApproximateReceiveCount)).toEqual(['1', '2']);
  expect(brought[0]!.receiptHandle).not.toBe(brought[1]!.receiptHandle);
  expect(engine.messages()).toBe(0);
});

test('what a function reports as failed comes again when the function says, and is deleted once it succeeds', async () => {
  const three = arrivals(3);
  await open(async (message) => {
    three.note();
    if (brought.length === 3) return { batchItemFailures: [] };
    expect((await bringBack(message, message.body === 'late' ? 60 : 0)).status).toBe(200);
    return failed(message);
  });
  await send('late');
  await engine.idle();
  expect([engine.running(), engine.messages()]).toEqual([0, 1]);
  await send('soon');
  await three.promise;
  await engine.idle();
  expect(brought.map(({ body }) => body)).toEqual(['late', 'soon', 'soon']);
  expect(engine.messages()).toBe(1);
  // It is gone, and its handles are worth nothing.
  const gone = { status: 400, __type: 'com.amazonaws.sqs#MessageNotInflight' };
  for (const message of brought.slice(1)) expect(await bringBack(message, 1)).toMatchObject(gone);
});

test('a run whose message was brought to another meanwhile does not delete it', async () => {
  const two = arrivals(2);
  await open(async (message) => {
    two.note();
    if (brought.length === 2) return failed(message);
    await bringBack(message, 0);
    return two.promise;
  });
  await send('slow');
  await two.promise;
  await engine.idle();
  expect([engine.messages(), brought.length]).toEqual([1, 2]);
});

test('a message that was brought too often goes to the queue of dead letters, and to its function', async () => {
  const dead = Promise.withResolvers<Message>();
  await open(
    async (message) => failed(message),
    { visibilityMs: 10, deadLetters: { queue: 'dead', maxReceiveCount: 2 } },
    { dead: { ...defaults, run: async ({ Records }) => dead.resolve(Records[0] as Message) } },
  );
  const { MessageId } = await send('hopeless');
  expect(await dead.promise).toMatchObject({ messageId: MessageId, body: 'hopeless' });
  await engine.idle();
  expect([brought.length, engine.messages()]).toEqual([2, 0]);
});

test('no more messages are handled at once than the queue allows; the others wait', async () => {
  const gate = Promise.withResolvers<void>();
  await open(() => gate.promise, { maxConcurrency: 2 });
  for (const body of ['a', 'b', 'c']) await send(body);
  expect([engine.running(), engine.messages(), brought.length]).toEqual([2, 3, 2]);
  gate.resolve();
  await engine.idle();
  expect([engine.running(), engine.messages()]).toEqual([0, 0]);
  expect(brought.map(({ body }) => body)).toEqual(['a', 'b', 'c']);
});

const elsewhere = 'http://127.0.0.1:9/000000000000/nobody';
test.each<[string, string, object, Changes, number, string]>([
  ['another body than was signed', 'SendMessage', {}, { sent: '{}' }, 403, 'InvalidSignatureException'],
  ['a wrong secret', 'SendMessage', {}, { secretAccessKey: 'guessed' }, 403, 'InvalidSignatureException'],
  [
    'an unknown queue',
    'SendMessage',
    {},
    { queueUrl: elsewhere },
    400,
    'com.amazonaws.sqs#QueueDoesNotExist',
  ],
  ['no message', 'SendMessage', {}, {}, 400, 'com.amazonaws.sqs#InvalidParameterValue'],
  [
    'too large a message',
    'SendMessage',
    { MessageBody: 'é'.repeat(512 * 1024 + 1) },
    {},
    400,
    'com.amazonaws.sqs#InvalidParameterValue',
  ],
  [
    'too long a time',
    'ChangeMessageVisibility',
    { ReceiptHandle: 'x', VisibilityTimeout: 43_201 },
    {},
    400,
    'com.amazonaws.sqs#InvalidParameterValue',
  ],
  ['another operation', 'ReceiveMessage', {}, {}, 400, 'UnknownOperationException'],
])('a request with %s is refused as AWS does', async (_what, operation, members, changes, status, type) => {
  await open(() => Promise.resolve());
  expect(await call(operation, members, changes)).toMatchObject({ status, __type: type });
  expect(engine.messages()).toBe(0);
});
