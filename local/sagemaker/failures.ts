import type { ServerResponse } from 'node:http';

/** An error as AWS answers it: the SDK builds its exception from the name and the members. */
export interface Failure {
  name: string;
  status: number;
  members: Record<string, string | number>;
}

/** The account number of AWS's own examples. */
export const ACCOUNT = '000000000000';

const failure = (name: string, status: number, Message: string): Failure => ({
  name,
  status,
  members: { Message },
});

/** @param what `Endpoint painter`. */
export const notFound = (what: string) =>
  failure('ValidationError', 400, `${what} of account ${ACCOUNT} not found.`);

export const bodyTooLarge = (limitBytes: number) =>
  failure('ValidationError', 400, `The request body is larger than ${limitBytes} bytes.`);

/** For an endpoint that has inference components, a call must name one. */
export const componentNotNamed = failure(
  'ValidationError',
  400,
  'Inference Component Name header is required for endpoints to which you plan to deploy inference components.',
);

/** Amazon SageMaker AI developer guide, "Scale an endpoint to zero instances", has the case, and AWS's notebooks the words. */
export const noCapacity = failure(
  'ValidationError',
  400,
  'Inference Component has no capacity to process this request. ApplicationAutoScaling may be in-progress ' +
    '(if configured) or try to increase the capacity by invoking UpdateInferenceComponentRuntimeConfig API.',
);

export const unsignedRequest = failure(
  'MissingAuthenticationTokenException',
  403,
  'Missing Authentication Token',
);

export const unknownOperation = failure(
  'UnknownOperationException',
  404,
  'This runtime serves invocations-response-stream.',
);

export const containerUnreachable = failure(
  'ServiceUnavailable',
  503,
  'The container behind this endpoint is not reachable.',
);

export const internalFailure = failure('InternalFailure', 500, 'An internal failure occurred.');

/** The container answered with an error of its own, or not at all, which AWS counts as status 0. */
export function modelError(name: string, status: number, body: string): Failure {
  const kind = status >= 500 ? 'server' : 'client';
  const logs = `See the log group /aws/sagemaker/Endpoints/${name} in account ${ACCOUNT} for more information.`;
  const Message = `Received ${kind} error (${status}) from primary with message "${body}". ${logs}`;
  return {
    name: 'ModelError',
    status: 424,
    members: { Message, OriginalStatusCode: status, OriginalMessage: body },
  };
}

/** Answers with a failure; `close` also ends the connection, for a request whose body was not read to its end. */
export function answerFailure(
  response: ServerResponse,
  { name, status, members }: Failure,
  close = false,
): void {
  if (close) response.setHeader('connection', 'close');
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': name });
  response.end(JSON.stringify(members));
}
