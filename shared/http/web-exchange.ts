import { PassThrough, type Writable } from 'node:stream';
import type { Answer } from './answer.ts';
import type { ApiRequest } from './request.ts';

/**
 * A request in the form of the Fetch standard, for libraries that take that. It has only the headers that are named, never the
 * credentials; and no body, because the library is given what was parsed of it.
 */
export function webRequest({ method, headers }: ApiRequest, names: RegExp): Request {
  const sent = [...headers].filter(([name]) => names.test(name));
  const fields = sent.flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
  // What no header may hold would throw.
  const clean = fields.filter(([, value]) => /^[\t\x20-\x7e]*$/.test(value));
  // Bodies are JSON, whatever the caller says that they are, and of the answer's form the library need know nothing.
  const accept = 'application/json, text/event-stream';
  return new Request('https://api.invalid/', {
    method,
    headers: [...clean, ['content-type', 'application/json'], ['accept', accept]],
  });
}

/** The answer to be sent for such a library's response. One that streams goes on when the client has hung up. */
export async function webAnswer(request: ApiRequest, response: Response): Promise<Answer> {
  const { status, body, headers: answered } = response;
  const allow = answered.get('allow');
  const headers = allow === null ? {} : { allow };
  if (!isEventStream(response)) {
    const text = await response.text();
    if (text !== '') return { status, headers, body: JSON.parse(text) };
    // Nothing is no JSON.
    return { status, headers: { ...headers, 'content-type': 'text/plain' }, body: undefined };
  }
  const stream = new PassThrough();
  stream.on('error', () => {});
  request.background.push(writeAll(body!, stream).finally(() => stream.end()));
  return { status, headers, body: undefined, stream };
}

export function isEventStream({ headers: answered }: Response): boolean {
  return answered.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Writes what comes, each chunk once the reader has taken those before it. Reads to the end though the reader has gone. */
export async function writeAll(from: AsyncIterable<unknown>, to: Writable): Promise<void> {
  for await (const chunk of from) {
    if (to.destroyed || to.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      const goOn = () => {
        to.off('drain', goOn).off('close', goOn);
        resolve();
      };
      to.on('drain', goOn).on('close', goOn);
    });
  }
}
