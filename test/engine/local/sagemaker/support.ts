import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
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
  answer: (response: ServerResponse, body: string, request: IncomingMessage) => unknown,
): Promise<Container> {
  const requests: Container['requests'] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    void answer(response, body, request);
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

/** Calls an endpoint for a stream and reads it to its end, which may be an exception. */
export async function streamEndpoint(
  client: SageMakerRuntimeClient,
  EndpointName: string,
  Body: string,
  { signal, onPart }: { signal?: AbortSignal; onPart?: () => void } = {},
) {
  const types = { ContentType: 'application/json', Accept: 'application/x-ndjson' };
  const command = new InvokeEndpointWithResponseStreamCommand({ EndpointName, Body, ...types });
  const answer = await client.send(command, signal ? { abortSignal: signal } : {});
  const parts: string[] = [];
  try {
    for await (const { PayloadPart: part } of answer.Body!) {
      parts.push(Buffer.from(part!.Bytes!).toString());
      onPart?.();
    }
    return { parts, contentType: answer.ContentType };
  } catch (error) {
    return { parts, contentType: answer.ContentType, error };
  }
}
