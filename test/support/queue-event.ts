import { randomUUID } from 'node:crypto';

/** What a function gets of a queue, as far as this service reads it. */
export function queueEvent(message: unknown, receiveCount = 1): object {
  const attributes = { ApproximateReceiveCount: String(receiveCount) };
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return { Records: [{ messageId: randomUUID(), receiptHandle: 'receipt', body, attributes }] };
}
