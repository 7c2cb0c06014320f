import { createMcpHandler } from '@modelcontextprotocol/server';
import { ServiceError } from '../errors.ts';
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
    return rpcError(403, invalidRequest, 'Web pages of this origin may not call this service.');
  }
  let message: Record<string, unknown>;
  try {
    message = readJsonBody(request);
  } catch (error) {
    return unreadable(request, error);
  }
  let fault: unknown;
  const handler = createMcpHandler(() => toolServer(call), {
    // The tools never change, so there is nothing to listen for, and a stream without end would hold a function.
    maxSubscriptions: 0,
    onerror: (error) => (fault = error),
  });
  const response = await handler.fetch(webRequest(request, /^(accept|mcp-.*)$/), { parsedBody: message });
  // Of a refusal nothing is logged: it may quote what the caller sent.
  if (response.status >= 500) {
    log.error('cause', { requestId: request.requestId, causes: loggableError(fault) });
  }
  return webAnswer(request, response);
}

/** The protocol's rule against DNS rebinding ("Security & Endpoint"). Only browsers send the header. */
function isForeign({ headers }: ApiRequest, allowedOrigins: readonly string[]): boolean {
  return (headers.get('origin') ?? []).some((origin) => !allowedOrigins.includes(origin));
}

function unreadable(request: ApiRequest, error: unknown): Answer {
  if (!(error instanceof ServiceError)) throw error;
  const { status, code, message } = error;
  request.logFields.code = code;
  return rpcError(status, isJson(request) ? invalidRequest : parseError, message, { code });
}

function isJson(request: ApiRequest): boolean {
  try {
    request.json();
    return true;
  } catch {
    return false;
  }
}

/** An error about a message whose id is not known. */
function rpcError(status: number, code: number, message: string, data?: object): Answer {
  return { status, body: { jsonrpc: '2.0', id: null, error: { code, message, ...(data && { data }) } } };
}
