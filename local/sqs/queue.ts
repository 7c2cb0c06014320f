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

/**
 * A standard queue, and what Lambda does to bring its messages to a function, each in a batch of its own (AWS Lambda,
 * "Using Lambda with Amazon SQS", "Handling errors for an SQS event source in Lambda").
 */
export class Queue {
  private readonly messages = new Set<Message>();
  private visible: Message[] = [];
  /** What is being handled. */
  readonly runs = new Set<Promise<void>>();
  private readonly arn: string;
  private readonly options: QueueOptions;
  private readonly toDeadLetters: (message: Message) => void;

  constructor(arn: string, options: QueueOptions, toDeadLetters: (message: Message) => void) {
    this.arn = arn;
    this.options = options;
    this.toDeadLetters = toDeadLetters;
  }

  /** All that are in the queue: visible, hidden or being handled. */
  get size(): number {
    return this.messages.size;
  }

  /** @returns the message's id */
  send(body: string, group?: string): string {
    const id = randomUUID();
    const notReceived = { firstReceivedAtMs: null, receiveCount: 0, receiptHandle: null, timer: null };
    this.take({ id, body, group, sentAtMs: Date.now(), ...notReceived });
    return id;
  }

  /** Takes a message of another queue. Its age goes on ("Setting-up dead-letter queue retention in Amazon SQS"). */
  take(message: Message): void {
    this.messages.add(message);
    this.show(message);
  }

  /** @returns false where no message that is hidden was brought with this handle last. */
  changeVisibility(receiptHandle: string, seconds: number): boolean {
    const message = [...this.messages].find((one) => one.receiptHandle === receiptHandle);
    if (message === undefined || message.timer === null) return false;
    this.hide(message, seconds * 1000);
    return true;
  }

  close(): void {
    for (const message of this.messages) this.remove(message);
  }

  private show(message: Message): void {
    message.timer = null;
    this.visible.push(message);
    this.bringNext();
  }

  private hide(message: Message, forMs: number): void {
    clearTimeout(message.timer!);
    message.timer = setTimeout(() => this.show(message), forMs);
  }

  private remove(message: Message): void {
    clearTimeout(message.timer!);
    this.messages.delete(message);
    this.visible = this.visible.filter((one) => one !== message);
  }

  private bringNext(): void {
    const { run, maxConcurrency, deadLetters } = this.options;
    if (run === undefined) return;
    while (this.runs.size < maxConcurrency && this.visible.length > 0) {
      const message = this.visible.shift()!;
      // It moves when it was received more often than allowed ("Using dead-letter queues in Amazon SQS").
      if (deadLetters !== undefined && message.receiveCount >= deadLetters.maxReceiveCount) {
        this.remove(message);
        this.toDeadLetters(message);
      } else {
        const handled = this.bring(message, run).finally(() => {
          this.runs.delete(handled);
          this.bringNext();
        });
        this.runs.add(handled);
      }
    }
  }

  private async bring(message: Message, run: NonNullable<QueueOptions['run']>): Promise<void> {
    const receiptHandle = randomUUID();
    message.receiptHandle = receiptHandle;
    message.receiveCount += 1;
    message.firstReceivedAtMs ??= Date.now();
    this.hide(message, this.options.visibilityMs);
    const isDone = await run({ Records: [recordOf(message, this.arn)] }).then(
      (answer) => !reports(answer, message.id),
      () => false,
    );
    // A run that the message was taken from does not delete it.
    if (isDone && message.receiptHandle === receiptHandle) this.remove(message);
  }
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
