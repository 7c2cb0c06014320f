import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  InvokeEndpointWithResponseStreamCommand,
  SageMakerRuntimeClient,
} from '@aws-sdk/client-sagemaker-runtime';
import { listen, type RunningServer } from '../../../../local/http/server.ts';

export interface Container extends RunningServer {
  /** What each request to it held. */
  requests: { path: string; headers: IncomingMessage['headers']; body: string }[];
}

/** A model container whose /invocations does as a test says. */
export async function startContainer(
  answer: (response: ServerResponse, body: string, request: IncomingMessage) => void,
): Promise<Container> {
  const requests: Container['requests'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      answer(response, body, request);
    });
  });
  return { ...(await listen(server)), requests };
}

export function runtimeClient(endpoint: string): SageMakerRuntimeClient {
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };
  return new SageMakerRuntimeClient({
    endpoint,
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
    // On a busy machine this process may notice too late that the server has closed an idle connection.
    requestHandler: { httpAgent: { keepAlive: false } },
  });
}

export interface Streamed {
  parts: string[];
  contentType: string | undefined;
  error: (Error & { ErrorCode?: string }) | undefined;
}

/** Calls an endpoint for a stream and reads it to its end, which may be an exception. */
export async function streamEndpoint(
  client: SageMakerRuntimeClient,
  name: string,
  body: string,
  abortSignal?: AbortSignal,
  onPart: (text: string) => void = () => undefined,
): Promise<Streamed> {
  const command = new InvokeEndpointWithResponseStreamCommand({
    EndpointName: name,
    Body: body,
    ContentType: 'application/json',
    Accept: 'application/x-ndjson',
  });
  const answer = await client.send(command, abortSignal ? { abortSignal } : {});
  const streamed: Streamed = { parts: [], contentType: answer.ContentType, error: undefined };
  try {
    for await (const event of answer.Body ?? []) {
      if (!event.PayloadPart?.Bytes) continue;
      const text = Buffer.from(event.PayloadPart.Bytes).toString();
      streamed.parts.push(text);
      onPart(text);
    }
  } catch (error) {
    streamed.error = error as Error;
  }
  return streamed;
}
