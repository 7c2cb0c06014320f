import { Agent, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

export interface Call {
  method?: string;
  /** Below the base address. */
  path: string;
  /** A raw key or an access token. */
  token?: string | undefined;
  headers?: Record<string, string>;
  /** Text is sent as it is, anything else as JSON. */
  body?: unknown;
  /** Goes away after so many milliseconds, whatever was answered until then. */
  hangUpAfterMs?: number;
  /** Announces more than it sends, and goes away. */
  sendsHalf?: boolean;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Parsed, where it is JSON. */
  body: any;
  durationMs: number;
}

/** What became of a call: `none` is a connection that broke without the client wanting it. */
export type Reply = { kind: 'answer'; answer: Answer } | { kind: 'hung_up' } | { kind: 'none'; why: string };

/** Nothing that the service does takes longer, deadlines included. */
const answerWithinMs = 30_000;

/** A client that keeps its connections, as many as it has calls under way. */
export function openClient(baseUrl: string): { send(call: Call): Promise<Reply>; close(): void } {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 512 });
  return {
    send: (call) => send(new URL(`${baseUrl}${call.path}`), agent, call),
    close: () => agent.destroy(),
  };
}

function send(url: URL, agent: Agent, call: Call): Promise<Reply> {
  const { token, body, hangUpAfterMs, sendsHalf = false } = call;
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const bytes = text === undefined ? 0 : Buffer.byteLength(text);
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const req = request(url, {
      agent,
      method: call.method ?? (text === undefined ? 'GET' : 'POST'),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...(text === undefined ? {} : { 'content-length': sendsHalf ? bytes + 100 : bytes }),
        ...call.headers,
      },
    });
    let hungUp = sendsHalf;
    const hangUp = () => {
      hungUp = true;
      req.destroy();
    };
    const timers = [setTimeout(() => req.destroy(new Error('no answer in time')), answerWithinMs)];
    if (hangUpAfterMs !== undefined) timers.push(setTimeout(hangUp, hangUpAfterMs));
    if (sendsHalf) timers.push(setTimeout(hangUp, 50));
    const settle = (reply: Reply) => {
      timers.forEach(clearTimeout);
      resolve(reply);
    };
    const fail = (error: Error) =>
      settle(hungUp ? { kind: 'hung_up' } : { kind: 'none', why: error.message });
    req.on('error', fail);
    req.on('response', (res) => {
      readAll(res).then(
        (whole) => settle({ kind: 'answer', answer: answerOf(res, whole, performance.now() - startedMs) }),
        fail,
      );
    });
    if (sendsHalf) req.write(text);
    else req.end(text);
  });
}

async function readAll(res: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function answerOf(res: IncomingMessage, text: string, durationMs: number): Answer {
  const { statusCode = 0, headers } = res;
  const isJson = headers['content-type']?.startsWith('application/json') ?? false;
  return { status: statusCode, headers, text, body: isJson ? JSON.parse(text) : undefined, durationMs };
}
