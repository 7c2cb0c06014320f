import { PassThrough } from 'node:stream';
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
  // Bodies are JSON, whatever the caller says that they are.
  return new Request('https://api.invalid/', {
    method,
    headers: [...clean, ['content-type', 'application/json']],
  });
}

/** The answer to be sent for such a library's response. One that streams goes on when the client has hung up. */
export async function webAnswer(request: ApiRequest, response: Response): Promise<Answer> {
  const { status, body, headers: answered } = response;
  const allow = answered.get('allow');
  const headers = allow === null ? {} : { allow };
  if (!answered.get('content-type')?.startsWith('text/event-stream')) {
    const text = await response.text();
    if (text !== '') return { status, headers, body: JSON.parse(text) };
    // Nothing is no JSON.
    return { status, headers: { ...headers, 'content-type': 'text/plain' }, body: undefined };
  }
  const stream = new PassThrough();
  stream.on('error', () => {});
  request.background.push(copy(body!, stream).finally(() => stream.end()));
  return { status, headers, body: undefined, stream };
}

async function copy(from: ReadableStream<Uint8Array>, to: PassThrough): Promise<void> {
  for await (const chunk of from) if (!to.destroyed) to.write(chunk);
}
