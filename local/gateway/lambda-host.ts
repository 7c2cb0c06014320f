import { randomUUID } from 'node:crypto';
import { PassThrough, type Writable } from 'node:stream';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

/** What a function answered: its status line first, then a body that may still be growing. */
export interface HostedAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body: AsyncIterable<Buffer | string>;
}

type BufferedHandler = (event: APIGatewayProxyEvent, context: object) => Promise<APIGatewayProxyResult>;
type StreamingHandler = (event: APIGatewayProxyEvent, stream: Writable, context: object) => Promise<void>;

const streaming = new WeakSet<object>();
/** Between the prelude and the body of a streamed answer, as Lambda's runtime writes it. */
const separator = Buffer.alloc(8);

/** Lambda's global for response streaming; functions look for it while they are being imported. */
export function installLambdaGlobal(): void {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse(handler: StreamingHandler): StreamingHandler {
        streaming.add(handler);
        return handler;
      },
      HttpResponseStream: {
        from(stream: Writable, prelude: unknown): Writable {
          stream.write(JSON.stringify(prelude));
          stream.write(separator);
          return stream;
        },
      },
    },
  });
}

/**
 * Runs a function once, as Lambda would, in this process. A client that goes away does not end it.
 * @param running gets the whole run, which may outlast the answer.
 */
export async function invoke(
  handler: unknown,
  event: APIGatewayProxyEvent,
  timeoutMs: number,
  running: (run: Promise<unknown>) => void,
): Promise<HostedAnswer> {
  const endsAtMs = Date.now() + timeoutMs;
  const context = { awsRequestId: randomUUID(), getRemainingTimeInMillis: () => endsAtMs - Date.now() };
  if (streaming.has(handler as object)) {
    const stream = new PassThrough({ highWaterMark: 16 * 1024 * 1024 });
    const run = (handler as StreamingHandler)(event, stream, context);
    run.catch((error: unknown) => stream.destroy(error as Error));
    running(run);
    return readPrelude(stream);
  }
  const run = (handler as BufferedHandler)(event, context);
  running(run);
  const { statusCode, headers, body } = await run;
  return {
    statusCode,
    headers: headers as Record<string, string>,
    body: (async function* () {
      yield body;
    })(),
  };
}

async function readPrelude(stream: AsyncIterable<Buffer>): Promise<HostedAnswer> {
  const chunks = stream[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  for (;;) {
    const { done, value } = await chunks.next();
    if (done === true) throw new Error('the function answered without a status line');
    head = Buffer.concat([head, value]);
    const end = head.indexOf(separator);
    if (end === -1) continue;
    const rest = head.subarray(end + separator.length);
    const { statusCode, headers } = JSON.parse(head.subarray(0, end).toString());
    return { statusCode, headers, body: restOf(rest, chunks) };
  }
}

async function* restOf(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  yield* { [Symbol.asyncIterator]: () => chunks };
}
