import { createMcpHandler } from '@modelcontextprotocol/server';
import { ServiceError, type ErrorCode } from '../errors.ts';
import type { Answer } from '../http/answer.ts';
import { readJsonBody, type ApiRequest } from '../http/request.ts';
import { webAnswer, webRequest } from '../http/web-exchange.ts';
import { loggableError } from '../runtime/log.ts';
import type { ToolCall } from './run-tool.ts';
import { toolServer } from './tool-server.ts';

/** Error codes of JSON-RPC 2.0 ("Error object"). */
const parseError = -32700;
const invalidRequest = -32600;

/**
 * Answers one message of the Model Context Protocol, revision 2026-07-28 or, for clients that begin with `initialize`, the ones from
 * 2024-11-05 to 2025-11-25. There are no sessions: every message is answered by itself. Batches are refused: the limits count messages.
 * @param allowedOrigins those of web pages that may call
 */
export async function answerMessage(call: ToolCall, allowedOrigins: readonly string[]): Promise<Answer> {
  const { request, log } = call;
  if (isForeign(request, allowedOrigins)) {
    const sentence = 'Web pages of this origin may not call this service.';
    return refuse(request, new ServiceError('REQUEST_BLOCKED', sentence), invalidRequest);
  }
  let message: Record<string, unknown>;
  try {
    message = readJsonBody(request);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return refuse(request, error, isJson(request) ? invalidRequest : parseError);
  }
  let fault: unknown;
  const handler = createMcpHandler(() => toolServer(call), {
    // The tools never change, so there is nothing to listen for, and a stream without end would hold a function.
    maxSubscriptions: 0,
    onerror: (error) => (fault = error),
  });
  const response = await handler.fetch(webRequest(request, /^(accept|mcp-.*)$/), { parsedBody: message });
  const { status } = response;
  if (status >= 400) request.logFields.code = codeOf(status);
  // Of a refusal nothing more is logged: it may quote what the caller sent.
  if (status >= 500) log.error('cause', { requestId: request.requestId, causes: loggableError(fault) });
  return webAnswer(request, response);
}

/** The protocol's rule against DNS rebinding ("Security & Endpoint"). Only browsers send the header. */
function isForeign({ headers }: ApiRequest, allowedOrigins: readonly string[]): boolean {
  return (headers.get('origin') ?? []).some((origin) => !allowedOrigins.includes(origin));
}

/** What a refusal of the protocol's own counts as. */
function codeOf(status: number): ErrorCode {
  if (status >= 500) return 'INTERNAL_ERROR';
  return status === 404 ? 'NOT_FOUND' : 'INVALID_BODY';
}

/** Refuses what is no message, so that its id is not known. */
function refuse(request: ApiRequest, { status, code, message }: ServiceError, rpcCode: number): Answer {
  request.logFields.code = code;
  return { status, body: { jsonrpc: '2.0', id: null, error: { code: rpcCode, message, data: { code } } } };
}

function isJson(request: ApiRequest): boolean {
  try {
    request.json();
    return true;
  } catch {
    return false;
  }
}
