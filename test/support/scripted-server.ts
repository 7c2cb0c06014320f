import { text } from 'node:stream/consumers';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { listen } from '../../local/http/server.ts';

export interface ScriptedAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Its bytes come one a second. */
  drips?: true;
}

export interface ScriptedServer {
  url: string;
  /** What came since the test began. */
  requests: { path: string; headers: IncomingMessage['headers']; body: Promise<string> }[];
  /** What each request is answered with; null: nothing ever. A test sets it. */
  answer: (path: string) => ScriptedAnswer | null;
}

function drip(response: ServerResponse, body: string): void {
  const bytes = body[Symbol.iterator]();
  const timer = setInterval(() => {
    const { value, done } = bytes.next();
    if (done) response.end();
    else response.write(value);
  }, 1000);
  response.once('close', () => clearInterval(timer));
}

/** A real server that stands for a service of others in the tests of one file. */
export function useScriptedServer(): ScriptedServer {
  const script: ScriptedServer = { url: '', requests: [], answer: () => ({}) };
  const server = createServer((request, response) => {
    const path = request.url!;
    script.requests.push({ path, headers: request.headers, body: text(request).catch(() => '') });
    const answer = script.answer(path);
    if (answer === null) return;
    response.writeHead(answer.status ?? 200, answer.headers);
    if (answer.drips) return drip(response, answer.body!);
    response.end(answer.body ?? '');
  });
  let close: () => Promise<void>;
  beforeAll(async () => {
    const running = await listen(server);
    script.url = running.url;
    close = () => running.close();
  });
  beforeEach(() => void script.requests.splice(0));
  afterAll(() => close());
  return script;
}
