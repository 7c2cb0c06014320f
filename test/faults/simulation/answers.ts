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

/** An error of DynamoDB's (Amazon DynamoDB API Reference, "Common Errors" and each operation's own). */
function databaseError(statusCode: number, type: string, more: object = {}): HttpAnswer {
  return jsonAnswer(statusCode, {
    __type: `com.amazonaws.dynamodb.v20120810#${type}`,
    message: type,
    ...more,
  });
}

export function internalError(): HttpAnswer {
  return databaseError(500, 'InternalServerError');
}

/** A transaction is canceled where a single operation is throttled. */
export function throttled({ operation, keys }: TableCall): HttpAnswer {
  return operation === 'TransactWriteItems'
    ? canceled(keys.length, 'ThrottlingError')
    : databaseError(400, 'ProvisionedThroughputExceededException');
}

export function conflict({ operation, keys }: TableCall): HttpAnswer {
  return operation === 'TransactWriteItems'
    ? canceled(keys.length, 'TransactionConflict')
    : databaseError(400, 'TransactionConflictException');
}

function canceled(parts: number, code: string): HttpAnswer {
  const CancellationReasons = Array.from({ length: parts }, (_, i) => ({ Code: i === 0 ? code : 'None' }));
  return databaseError(400, 'TransactionCanceledException', { CancellationReasons });
}

export function socketError(code: 'ECONNRESET' | 'ECONNREFUSED'): Error {
  const error = Object.assign(new Error(code === 'ECONNRESET' ? 'socket hang up' : 'connect ECONNREFUSED'), {
    code,
  });
  // As the SDK's handler names what may be tried again.
  return code === 'ECONNRESET' ? Object.assign(error, { name: 'TimeoutError' }) : error;
}

export function timeoutError(): Error {
  return Object.assign(new Error('the request took too long'), { name: 'TimeoutError', code: 'ETIMEDOUT' });
}

export function abortError(reason: unknown): Error {
  return Object.assign(new Error('Request aborted', { cause: reason }), { name: 'AbortError' });
}

/** Bytes that come one after another, as a socket would bring them. */
export function byteStream() {
  const chunks: (Uint8Array | Error | null)[] = [];
  let wake = () => {};
  const push = (chunk: Uint8Array | Error | null) => {
    chunks.push(chunk);
    wake();
  };
  async function* read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      while (chunks.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      const chunk = chunks.shift()!;
      if (chunk === null) return;
      if (chunk instanceof Error) throw chunk;
      yield chunk;
    }
  }
  return { send: push, end: () => push(null), fail: (error: Error) => push(error), read: read() };
}

export type ByteStream = ReturnType<typeof byteStream>;
