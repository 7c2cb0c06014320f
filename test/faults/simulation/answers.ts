import type { TableCall } from './table-calls.ts';

/** An answer as the SDK takes it from its HTTP handler. */
export interface HttpAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body: unknown;
}

export function jsonAnswer(
  statusCode: number,
  body: unknown,
  headers: Record<string, string> = {},
): HttpAnswer {
  return { statusCode, headers, body: Buffer.from(JSON.stringify(body)) };
}

export function emptyAnswer(statusCode: number, headers: Record<string, string> = {}): HttpAnswer {
  return { statusCode, headers, body: Buffer.alloc(0) };
}

/**
 * DynamoDB's errors (Amazon DynamoDB API Reference, "Common Errors" and each operation's own). A transaction is canceled where
 * a single operation is refused.
 */
export function tableRefusals({ operation, keys }: TableCall) {
  const error = (statusCode: number, type: string, more = {}) =>
    jsonAnswer(statusCode, { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: type, ...more });
  const refuse = (reason: string, type: string) => () => {
    if (operation !== 'TransactWriteItems') return error(400, type);
    const CancellationReasons = keys.map((_, i) => ({ Code: i === 0 ? reason : 'None' }));
    return error(400, 'TransactionCanceledException', { CancellationReasons });
  };
  return {
    '500': () => error(500, 'InternalServerError'),
    throttled: refuse('ThrottlingError', 'ProvisionedThroughputExceededException'),
    conflict: refuse('TransactionConflict', 'TransactionConflictException'),
  };
}

/** SQS's errors (Amazon SQS API Reference, each action's own). */
export const queueError = (statusCode: number, type: string): HttpAnswer =>
  jsonAnswer(statusCode, { __type: `com.amazonaws.sqs#${type}`, message: type });

export function socketError(code: 'ECONNRESET' | 'ECONNREFUSED'): Error {
  const error = Object.assign(new Error(`the connection: ${code}`), { code });
  // As the SDK's handler names what may be tried again.
  return code === 'ECONNRESET' ? Object.assign(error, { name: 'TimeoutError' }) : error;
}

/** Bytes that come one after another, as a socket would bring them. An Error breaks the stream; null ends it. */
export function byteStream() {
  const chunks: (Uint8Array | Error | null)[] = [];
  let wake = () => {};
  async function* read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      while (chunks.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      const chunk = chunks.shift()!;
      if (chunk === null) return;
      if (chunk instanceof Error) throw chunk;
      yield chunk;
    }
  }
  return {
    push(chunk: Uint8Array | Error | null): void {
      chunks.push(chunk);
      wake();
    },
    read: read(),
  };
}
