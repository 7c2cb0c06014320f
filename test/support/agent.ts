import { expect } from '@jest/globals';
import { callApi, type ApiAnswer, type RunningService } from './service.ts';

/** The protocol's revision that has no handshake. */
export const revision = '2026-07-28';

export interface Call {
  key: string;
  method: string;
  params?: Record<string, unknown>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A message as a client of that revision sends it. */
export function messageOf({ method, params = {} }: Pick<Call, 'method' | 'params'>, id = 1) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'a test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...(params._meta as object | undefined),
  };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
}

export const headersOf = ({ method, params = {} }: Pick<Call, 'method' | 'params'>) => ({
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': revision,
  'mcp-method': method,
  ...(typeof params.name === 'string' ? { 'mcp-name': params.name } : {}),
});

/** Sends one message. @returns the answer and its messages, whether it is JSON or an event stream. */
export async function ask(
  { ready }: Pick<RunningService, 'ready'>,
  { key, headers = {}, signal, ...call }: Call,
): Promise<ApiAnswer & { messages: any[] }> {
  const answer = await callApi(ready.baseUrl, {
    path: '/mcp',
    key,
    body: messageOf(call),
    headers: { ...headersOf(call), ...headers },
    ...(signal && { signal }),
  });
  return { ...answer, messages: messagesIn(answer.body) };
}

export function messagesIn(body: unknown): any[] {
  if (typeof body !== 'string') return [body];
  return [...body.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
}

/** What an agent knows nothing of: routes and headers. */
export const routeOrHeader = /\b(GET|POST|PUT|PATCH|DELETE) \/|Idempotency-Key|Retry-After|X-[A-Z]/;

/** Calls a tool. @returns its result, which may be a refusal, in words of tools whatever is refused. */
export async function callTool(
  service: Pick<RunningService, 'ready'>,
  key: string,
  name: string,
  sent: object = {},
): Promise<any> {
  const answer = await ask(service, { key, method: 'tools/call', params: { name, arguments: sent } });
  const { result } = answer.messages.at(-1);
  if (result === undefined) throw new Error(`no result: ${answer.status} ${JSON.stringify(answer.body)}`);
  if (result.isError) expect(result.structuredContent.error).not.toMatch(routeOrHeader);
  return result;
}
