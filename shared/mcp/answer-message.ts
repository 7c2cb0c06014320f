import { createMcpHandler } from '@modelcontextprotocol/server';
import { ServiceError, type ErrorCode } from '../base/errors.ts';
import type { Answer } from '../http/answer.ts';
import { acceptWeights } from '../http/event-stream.ts';
import { noteError, readJsonBody, type ApiRequest } from '../http/request.ts';
import { isEventStream, webAnswer, webRequest } from '../http/web-exchange.ts';
import { loggableError } from '../base/log.ts';
import type { ToolCall } from './run-tool.ts';
import { toolServer } from './tool-server.ts';
import { withoutNulls } from './without-nulls.ts';

/** Error codes of JSON-RPC 2.0 ("Error object"), and the SDK's for an Accept header that takes nothing. */
const parseError = -32700;
const invalidRequest = -32600;
const notAcceptable = -32000;

/** How a caller takes an answer: in JSON alone, as events alone, or as events where there is progress to report. */
type Form = 'json' | 'events' | 'either';

/**
 * Answers one message of the Model Context Protocol, revision 2026-07-28 or, for clients that begin with `initialize`, the ones from
 * 2024-11-05 to 2025-11-25. There are no sessions: every message is answered by itself. Batches are refused: the limits count messages.
 * @param allowedOrigins those of web pages that may call, beside the service's own
 */
export async function answerMessage(call: ToolCall, allowedOrigins: readonly string[]): Promise<Answer> {
  const { request, log } = call;
  if (isForeign(request, allowedOrigins)) {
    const sentence = 'Web pages of this origin may not call this service.';
    return refuse(request, new ServiceError('REQUEST_BLOCKED', sentence), invalidRequest);
  }
  const form = formFor(request);
  if (form === null) {
    noteError(request, new ServiceError(codeOf(406), ''));
    return { status: 406, body: rpcError(notAcceptable, 'Accept application/json or text/event-stream.') };
  }
  let message: Record<string, unknown>;
  try {
    message = present(readJsonBody(request), form);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return refuse(
      request,
      error,
      error.code === 'INVALID_BODY' && !isJson(request) ? parseError : invalidRequest,
    );
  }
  let fault: unknown;
  const handler = createMcpHandler(() => toolServer(call), {
    responseMode: form === 'events' ? 'sse' : 'auto',
    onerror: (error) => (fault = error),
  });
  const response = await handler.fetch(webRequest(request, /^mcp-/), { parsedBody: message });
  const { status } = response;
  if (status >= 400) noteError(request, new ServiceError(codeOf(status), ''));
  // Of a refusal nothing more is logged: it may quote what the caller sent.
  if (status >= 500) log.error('cause', { requestId: request.requestId, causes: loggableError(fault) });
  return webAnswer(request, form === 'json' ? await inJson(response) : response);
}

/** @returns null for who takes neither form. Events are for who names them, and for who takes nothing else. */
function formFor(request: ApiRequest): Form | null {
  const weightOf = acceptWeights(request, '*/*');
  const takesEvents = weightOf('text/event-stream', 'text/*', '*/*') > 0;
  if (weightOf('application/json', 'application/*', '*/*') === 0) return takesEvents ? 'events' : null;
  return weightOf('text/event-stream') > 0 ? 'either' : 'json';
}

/**
 * The message as the protocol's schemas want it, which know no null. What a tool's arguments may have is for their contract to
 * say. JSON has no place for progress, so nobody counts as asking for it.
 */
function present({ params, ...message }: Record<string, unknown>, form: Form): Record<string, unknown> {
  if (params === null) return message;
  if (typeof params !== 'object' || Array.isArray(params)) return { ...message, params };
  const { arguments: sent, ...others } = params as Record<string, unknown>;
  const stated = withoutNulls(others) as { _meta?: { progressToken?: unknown } };
  if (form === 'json') delete stated._meta?.progressToken;
  return { ...message, params: { ...stated, ...((sent ?? null) !== null && { arguments: sent }) } };
}

/** The SDK streams every answer to the earlier revisions. The last message is the answer: before it may be that a subscription begins. */
async function inJson(response: Response): Promise<Response> {
  if (!isEventStream(response)) return response;
  const lines = (await response.text()).split('\n');
  return Response.json(
    JSON.parse(lines.findLast((line) => line.startsWith('data: '))!.slice('data: '.length)),
  );
}

/** The protocol's rule against DNS rebinding ("Security & Endpoint"). Only browsers send the header. */
function isForeign({ headers, origin: own }: ApiRequest, allowedOrigins: readonly string[]): boolean {
  const named = (origin: string) => origin.replace('//localhost:', '//127.0.0.1:');
  const isKnown = (origin: string) => allowedOrigins.includes(origin) || named(origin) === named(own);
  return !(headers.get('origin') ?? []).every(isKnown);
}

/** What a refusal of the protocol's own counts as. */
function codeOf(status: number): ErrorCode {
  if (status >= 500) return 'INTERNAL_ERROR';
  return status === 404 ? 'NOT_FOUND' : 'INVALID_BODY';
}

/** Refuses what is no message, so that its id is not known. */
function refuse(request: ApiRequest, error: ServiceError, rpcCode: number): Answer {
  const { status, code, message } = error;
  noteError(request, error);
  return { status, body: rpcError(rpcCode, message, { code }) };
}

function rpcError(code: number, message: string, data?: object): object {
  return { jsonrpc: '2.0', id: null, error: { code, message, ...(data && { data }) } };
}

function isJson(request: ApiRequest): boolean {
  try {
    JSON.parse(request.rawBody);
    return true;
  } catch {
    return false;
  }
}
