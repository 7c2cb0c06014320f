import type { ModelError } from '@aws-sdk/client-sagemaker-runtime';
import type { ModelEvent } from '../contracts/model-server.ts';
import type { Finding } from '../domain/breaker.ts';

/**
 * What each error of the runtime tells of the backend, null for nothing (Amazon SageMaker Runtime,
 * "InvokeEndpointWithResponseStream", and for the words about capacity "Scale an endpoint to zero instances"). Any
 * other, such as a connection that can't be made or an answer that breaks the contract, tells that it fails.
 */
const findings: Record<string, Finding | ((error: Error) => Finding | null)> = {
  InternalDependencyException: 'failing',
  InternalFailure: 'failing',
  InternalStreamFailure: 'failing',
  ServiceUnavailable: 'failing',
  ThrottlingException: 'failing',
  // No such endpoint, too; but one without an instance is getting one.
  ValidationError: ({ message }) =>
    message.includes('has no capacity to process this request') ? 'warming' : 'failing',
  ModelNotReadyException: 'warming',
  // A container that refuses a request of ours is alive. Without a status it died, hung or was cut off.
  ModelError: (error) => {
    const { OriginalStatusCode: status = 0 } = error as ModelError;
    return status >= 400 && status < 500 ? null : 'failing';
  },
  ModelStreamError: 'failing',
};

/** What a call that ended in an error tells, by the runtime's error among its causes. */
export function findingOfError(error: unknown): Finding | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const finding = findings[cause.name];
    if (finding !== undefined) return typeof finding === 'function' ? finding(cause) : finding;
  }
  return 'failing';
}

/** A container that closes a request works, whatever it says of the picture; a busy one did not try. */
export function findingOfEvent(event: ModelEvent): Finding | null {
  if (event.event === 'completed') return 'healthy';
  return event.event === 'failed' && event.reason !== 'busy' ? 'healthy' : null;
}

/** A deadline counts while the container has said nothing. Whoever else hangs up does so for reasons of their own. */
export function findingOfAbort({ reason }: AbortSignal, heard: boolean): Finding | null {
  return reason?.name === 'TimeoutError' && !heard ? 'failing' : null;
}
