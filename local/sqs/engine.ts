import { createServer } from 'node:http';
import { serveJsonProtocol, type JsonOperation } from '../http/json-protocol.ts';
import { AwsFault } from '../http/rest.ts';
import { listen, type RunningServer } from '../http/server.ts';
import type { SigningScope } from '../http/signed.ts';
import { md5, Queue, type QueueOptions } from './queue.ts';

export interface SqsOptions extends Omit<SigningScope, 'service'> {
  /** By their names. */
  queues: Record<string, QueueOptions>;
}

/** Messages that are being handled. Those that are hidden for a while do not count. */
export interface Handling {
  /** How many. */
  running(): number;
  /** Resolves once there is none. */
  idle(): Promise<void>;
  /** How many messages there are in all, hidden ones too. */
  messages(): number;
}

export interface Sqs extends RunningServer, Handling {
  urlOf(queue: string): string;
}

const account = '000000000000';
/** Of a message (Amazon SQS API Reference, "SendMessage"). */
const maxMessageBytes = 1024 * 1024;
/** JSON may write a character in six. */
const maxBodyBytes = 7 * maxMessageBytes;
/** Twelve hours ("ChangeMessageVisibility"). */
const maxVisibilitySeconds = 43_200;

/** Starts SQS's SendMessage and ChangeMessageVisibility on queues of this process, whose messages go to functions of it. */
export async function startSqs({ queues: options, ...scope }: SqsOptions): Promise<Sqs> {
  const queues: Record<string, Queue> = {};
  for (const [name, queue] of Object.entries(options)) {
    const arn = `arn:aws:sqs:${scope.region}:${account}:${name}`;
    queues[name] = new Queue(arn, queue, (message) => queues[queue.deadLetters!.queue]!.take(message));
  }
  const operation: JsonOperation = {
    targets: ['AmazonSQS.SendMessage', 'AmazonSQS.ChangeMessageVisibility'],
    signing: { service: 'sqs', ...scope },
    maxBodyBytes,
    version: '1.0',
    perform(body, target) {
      const members = membersOf(body);
      const queue = queueAt(queues, members.QueueUrl);
      return target === 'AmazonSQS.SendMessage' ? send(queue, members) : changeVisibility(queue, members);
    },
  };
  const server = await listen(
    createServer((request, response) => serveJsonProtocol(request, response, operation)),
  );
  return {
    ...server,
    ...handlingOf(Object.values(queues)),
    urlOf: (queue) => `${server.url}/${account}/${queue}`,
    close() {
      for (const queue of Object.values(queues)) queue.close();
      return server.close();
    },
  };
}

function handlingOf(queues: Queue[]): Handling {
  const runs = () => queues.flatMap((queue) => [...queue.runs]);
  return {
    running: () => runs().length,
    async idle() {
      while (runs().length > 0) await Promise.all(runs());
    },
    messages: () => queues.reduce((sum, queue) => sum + queue.size, 0),
  };
}

type Members = Record<string, unknown>;

function membersOf(body: Buffer): Members {
  try {
    return JSON.parse(body.toString()) ?? {};
  } catch {
    throw new AwsFault('SerializationException', 'The body is not JSON.');
  }
}

/** The host does not matter: a proxy may stand before the engine. */
function queueAt(queues: Record<string, Queue>, url: unknown): Queue {
  const [, name = ''] = /^https?:\/\/[^/]+\/\d{12}\/([\w-]+)$/.exec(String(url)) ?? [];
  if (Object.hasOwn(queues, name)) return queues[name]!;
  throw fault('QueueDoesNotExist', 'The specified queue does not exist.');
}

function send(queue: Queue, { MessageBody: body, MessageGroupId: group }: Members): object {
  if (typeof body !== 'string' || body === '') throw invalid('A message has at least one character.');
  if (Buffer.byteLength(body) > maxMessageBytes)
    throw invalid(`A message has at most ${maxMessageBytes} bytes.`);
  return {
    MessageId: queue.send(body, group === undefined ? undefined : String(group)),
    MD5OfMessageBody: md5(body),
  };
}

function changeVisibility(
  queue: Queue,
  { ReceiptHandle: handle, VisibilityTimeout: seconds }: Members,
): object {
  const isWhole = Number.isInteger(seconds) && Number(seconds) >= 0;
  if (!isWhole || Number(seconds) > maxVisibilitySeconds) {
    throw invalid(`A message is hidden from 0 to ${maxVisibilitySeconds} seconds.`);
  }
  if (queue.changeVisibility(String(handle), Number(seconds))) return {};
  throw fault('MessageNotInflight', 'No message that is in flight has this receipt handle.');
}

const invalid = (message: string) => fault('InvalidParameterValue', message);

/** Errors of the JSON protocol carry the service's namespace. */
function fault(type: string, message: string): AwsFault {
  return new AwsFault(`com.amazonaws.sqs#${type}`, message);
}
