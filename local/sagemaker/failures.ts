import type { ServerResponse } from 'node:http';

/** An error as AWS answers it: the SDK builds its exception from the name and the members. */
export interface Failure {
  name: string;
  status: number;
  members: Record<string, string | number>;
}

/** The account number of AWS's own examples. */
export const ACCOUNT = '000000000000';

export function endpointNotFound(name: string): Failure {
  return failure('ValidationError', 400, `Endpoint ${name} of account ${ACCOUNT} not found.`);
}

/** For an endpoint that has inference components, a call must name one. */
export function componentNotNamed(): Failure {
  const message =
    'Inference Component Name header is required for endpoints to which you plan to deploy inference components.';
  return failure('ValidationError', 400, message);
}

export function componentNotFound(name: string): Failure {
  return failure('ValidationError', 400, `Inference Component ${name} of account ${ACCOUNT} not found.`);
}

/** Amazon SageMaker AI developer guide, "Scale an endpoint to zero instances", has the case, and AWS's notebooks the words. */
export function noCapacity(): Failure {
  const message =
    'Inference Component has no capacity to process this request. ApplicationAutoScaling may be in-progress ' +
    '(if configured) or try to increase the capacity by invoking UpdateInferenceComponentRuntimeConfig API.';
  return failure('ValidationError', 400, message);
}

export function bodyTooLarge(limitBytes: number): Failure {
  return failure('ValidationError', 400, `The request body is larger than ${limitBytes} bytes.`);
}

export function unsignedRequest(): Failure {
  return failure('MissingAuthenticationTokenException', 403, 'Missing Authentication Token');
}

export function unknownOperation(): Failure {
  return failure('UnknownOperationException', 404, 'This runtime serves invocations-response-stream.');
}

export function containerUnreachable(): Failure {
  return failure('ServiceUnavailable', 503, 'The container behind this endpoint is not reachable.');
}

export function internalFailure(): Failure {
  return failure('InternalFailure', 500, 'An internal failure occurred.');
}

/** The container answered with an error of its own. */
export function modelError(name: string, status: number, body: string): Failure {
  const kind = status >= 500 ? 'server' : 'client';
  const text = `Received ${kind} error (${status}) from primary with message "${body}".`;
  const { members, ...rest } = failure('ModelError', 424, `${text} ${seeLogs(name)}`);
  return { ...rest, members: { ...members, OriginalStatusCode: status, OriginalMessage: body } };
}

/** The container did not answer in time, or closed the connection; AWS counts both as status 0. */
export function modelSilent(name: string, timedOut: boolean): Failure {
  const why = timedOut
    ? 'Your invocation timed out while waiting for a response from container primary. Review the latency metrics for each container in Amazon CloudWatch, resolve the issue, and try again.'
    : 'The container closed the connection before it had answered.';
  return modelError(name, 0, why);
}

function failure(name: string, status: number, message: string): Failure {
  return { name, status, members: { Message: message } };
}

function seeLogs(name: string): string {
  return `See the log group /aws/sagemaker/Endpoints/${name} in account ${ACCOUNT} for more information.`;
}

/** Answers with a failure; `close` also ends the connection, for a request whose body was not read to its end. */
export function answerFailure(
  response: ServerResponse,
  { name, status, members }: Failure,
  close = false,
): void {
  const body = JSON.stringify(members);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-amzn-errortype': name,
    ...(close ? { connection: 'close' } : {}),
  });
  response.end(body);
}
