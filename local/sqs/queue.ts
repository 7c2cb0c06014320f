import { createHash, randomUUID } from 'node:crypto';
import type { QueueAnswer } from '../../shared/generations/queue-contract.ts';

export interface QueueOptions {
  /** Handles one message at a time; left out for a queue that only keeps what it gets. */
  run?: (event: { Records: object[] }) => Promise<unknown>;
  /** How many messages are handled at once. */
  maxConcurrency: number;
  /** How long a message that was brought is hidden, unless its function says otherwise. */
  visibilityMs: number;
  /** Where a message goes that was brought so often and is still there. */
  deadLetters?: { queue: string; maxReceiveCount: number };
}

interface Message {
  id: string;
  body: string;
  group: string | undefined;
  sentAtMs: number;
  firstReceivedAtMs: number | null;
  receiveCount: number;
  /** Of the last time that it was brought; no other deletes it (Amazon SQS API Reference, "DeleteMessage"). */
  receiptHandle: string | null;
  /** Ends the time that it is hidden; null while it is visible. */
  timer: NodeJS.Timeout | null;
}

const notReceived = { firstReceivedAtMs: null, receiveCount: 0, receiptHandle: null, timer: null };

export type Queue = ReturnType<typeof openQueue>;

/**
 * A standard queue, and what Lambda does to bring its messages to a function, each in a batch of its own (AWS Lambda,
 * "Using Lambda with Amazon SQS", "Handling errors for an SQS event source in Lambda").
 * @param toDeadLetters gives a message to the queue of dead letters.
 */
export function openQueue(
  arn: string,
  { run, maxConcurrency, visibilityMs, deadLetters }: QueueOptions,
  toDeadLetters: (message: Message) => void,
) {
  const messages = new Set<Message>();
  const visible: Message[] = [];
  const runs = new Set<Promise<void>>();

  function take(message: Message): void {
    messages.add(message);
    show(message);
  }

  function show(message: Message): void {
    message.timer = null;
    visible.push(message);
    bringNext();
  }

  function hide(message: Message, forMs: number): void {
    clearTimeout(message.timer!);
    message.timer = setTimeout(show, forMs, message);
  }

  function remove(message: Message): void {
    clearTimeout(message.timer!);
    messages.delete(message);
    const index = visible.indexOf(message);
    if (index !== -1) visible.splice(index, 1);
  }

  function bringNext(): void {
    while (run !== undefined && runs.size < maxConcurrency && visible.length > 0) {
      const message = visible.shift()!;
      // "Using dead-letter queues in Amazon SQS": it moves when it was received more often than allowed.
      if (deadLetters !== undefined && message.receiveCount >= deadLetters.maxReceiveCount) {
        remove(message);
        toDeadLetters(message);
      } else {
        const handled = bring(message, run);
        runs.add(handled);
        void handled.then(() => {
          runs.delete(handled);
          bringNext();
        });
      }
    }
  }

  async function bring(message: Message, handle: NonNullable<typeof run>): Promise<void> {
    const receiptHandle = randomUUID();
    message.receiptHandle = receiptHandle;
    message.receiveCount += 1;
    message.firstReceivedAtMs ??= Date.now();
    hide(message, visibilityMs);
    const failed = await handle({ Records: [recordOf(message, arn)] }).then(
      (answer) => reports(answer, message.id),
      () => true,
    );
    // Without a failure it is deleted, but not by a run that it was taken from.
    if (!failed && message.receiptHandle === receiptHandle) remove(message);
  }

  return {
    /** @returns the message's id */
    send(body: string, group?: string): string {
      const id = randomUUID();
      take({ id, body, group, sentAtMs: Date.now(), ...notReceived });
      return id;
    },

    /** Takes a message of another queue. Its age goes on ("Setting-up dead-letter queue retention in Amazon SQS"). */
    take,

    /** @returns false where no message that is hidden was brought with this handle last. */
    changeVisibility(receiptHandle: string, seconds: number): boolean {
      const message = [...messages].find((one) => one.receiptHandle === receiptHandle);
      if (message === undefined || message.timer === null) return false;
      hide(message, seconds * 1000);
      return true;
    },

    /** All that are in the queue: visible, hidden or being handled. */
    size: () => messages.size,
    /** What is being handled. */
    runs,

    close(): void {
      for (const message of messages) clearTimeout(message.timer!);
      messages.clear();
      visible.length = 0;
    },
  };
}

export function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

/** What a function gets of a message ("Using Lambda with Amazon SQS", "Example Amazon SQS message event"). */
function recordOf(message: Message, eventSourceARN: string): object {
  return {
    messageId: message.id,
    receiptHandle: message.receiptHandle,
    body: message.body,
    attributes: {
      ApproximateReceiveCount: String(message.receiveCount),
      SentTimestamp: String(message.sentAtMs),
      SenderId: 'local',
      ApproximateFirstReceiveTimestamp: String(message.firstReceivedAtMs),
      ...(message.group !== undefined && { MessageGroupId: message.group }),
    },
    messageAttributes: {},
    md5OfBody: md5(message.body),
    eventSource: 'aws:sqs',
    eventSourceARN,
    awsRegion: eventSourceARN.split(':')[3],
  };
}

function reports(answer: unknown, messageId: string): boolean {
  const failures = (answer as Partial<QueueAnswer> | null | undefined)?.batchItemFailures ?? [];
  return failures.some(({ itemIdentifier }) => itemIdentifier === messageId);
}
