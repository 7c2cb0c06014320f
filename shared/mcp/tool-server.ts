import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolRequest,
  type CallToolResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { countAnswerWithImages } from '../generations/image-bytes-store.ts';
import { readPreview } from '../references/image-reader.ts';
import { agentWords, type ToolRefusal } from './contract.ts';
import { quoteName } from '../base/fields.ts';
import { inWords, type ServiceError } from '../base/errors.ts';
import { asServiceError } from '../http/backend-failure.ts';
import { noteError } from '../http/request.ts';
import { loggableError } from '../base/log.ts';
import { DefaultJsonSchemaValidator } from './no-validator.ts';
import { progressFor } from './progress.ts';
import { runTool, type ToolCall } from './run-tool.ts';
import { instructions, toolList, tools, type ToolName } from './tools.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** The tools change with the service's code only, and are the same for everyone. */
const lasting = { ttlMs: dayMs, cacheScope: 'public' } as const;

/**
 * The protocol's server for one message: it knows its caller, and nothing of any message before. Its tools are answered by
 * handlers of their own: the SDK's would check arguments itself, and refuse them in other words than the API.
 */
export function toolServer(call: ToolCall): McpServer {
  const product = new McpServer(
    { name: 'image-generation-service', title: 'Image Generation Service', version: '1' },
    {
      instructions,
      cacheHints: { 'tools/list': lasting, 'server/discover': lasting },
      jsonSchemaValidator: new DefaultJsonSchemaValidator(),
    },
  );
  const { server } = product;
  server.registerCapabilities({ tools: {} });
  server.setRequestHandler('tools/list', () => ({ tools: toolList() }) as never);
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => callTool(params, mcpReq, call));
  return product;
}

async function callTool(
  { name, arguments: sent = {} }: CallToolRequest['params'],
  mcpReq: ServerContext['mcpReq'],
  call: ToolCall,
): Promise<CallToolResult> {
  if (!Object.hasOwn(tools, name)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${quoteName(name)}.`);
  }
  call.request.logFields.tool = name;
  try {
    const answer = await runTool[name as ToolName](sent, call, progressFor(mcpReq));
    const shown = result(answer);
    return { ...shown, content: [...shown.content, ...(await previewsOf(answer, call))] };
  } catch (thrown) {
    return refusal(asServiceError(thrown), call);
  }
}

/** The text is for clients that know no structured results. */
function result(structuredContent: object): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    structuredContent: structuredContent as Record<string, unknown>,
  };
}

/**
 * What a model sees of the images, in the order of `outputs`, where the answer is about images. The images themselves are too large for
 * a message; four previews, the most there are, are 320 kB of it. A stored request, which alone has an `id`, shows them as often as any
 * image passes through a function.
 */
async function previewsOf(
  { previews = [], id }: { previews?: (string | null)[]; id?: string },
  { caller, deps }: ToolCall,
): Promise<CallToolResult['content']> {
  const links = previews.filter((link) => link !== null);
  if (links.length > 0 && id !== undefined) {
    const of = { licenseId: caller.licenseId, requestId: id };
    if (!(await countAnswerWithImages(deps.table, of).catch(() => false))) return [];
  }
  const files = await Promise.all(links.map(readPreview));
  const shown = files.filter((data) => data !== null);
  return shown.map((data) => ({ type: 'image', data, mimeType: 'image/webp' }));
}

function refusal(error: ServiceError, { request, log }: ToolCall): CallToolResult {
  const { code, sentence, cause, retryAfterSeconds } = error;
  // A fault is looked up, and a check's error appealed, by the id of the request itself, which its other formats have in a header.
  const isAskedAbout = code === 'INTERNAL_ERROR' || code === 'CONTENT_REFUSED';
  const requestId = error.requestId ?? (isAskedAbout ? request.requestId : undefined);
  noteError(request, error);
  if (cause !== undefined) {
    log.error('cause', { requestId: request.requestId, code, causes: loggableError(cause) });
  }
  const refused: ToolRefusal = {
    error: inWords(sentence, agentWords),
    code,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(requestId === undefined ? {} : { requestId }),
  };
  return { ...result(refused), isError: true };
}
