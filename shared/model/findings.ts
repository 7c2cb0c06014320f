import type { ModelError } from '@aws-sdk/client-sagemaker-runtime';
import type { ModelEvent } from './contract.ts';
import type { Finding } from './breaker-states.ts';

/**
 * What each error of the runtime says about the backend, null for nothing (Amazon SageMaker Runtime,
 * "InvokeEndpointWithResponseStream", and for the words about capacity "Scale an endpoint to zero instances"). Any
 * other error, such as a failed connection or an answer that breaks the contract, says that it is failing.
 */
const findings: Record<string, Finding | ((error: Error) => Finding | null)> = {
  InternalDependencyException: 'failing',
  InternalFailure: 'failing',
  InternalStreamFailure: 'failing',
  ServiceUnavailable: 'failing',
  ThrottlingException: 'failing',
  // Also for an endpoint that does not exist; but one without an instance is starting one.
  ValidationError: ({ message }) =>
    message.includes('has no capacity to process this request') ? 'warming' : 'failing',
  ModelNotReadyException: 'warming',
  // A container that refused a request is up. Without a status it died, hung or was cut off.
  ModelError: (error) => {
    const { OriginalStatusCode: status = 0 } = error as ModelError;
    return status >= 400 && status < 500 ? null : 'failing';
  },
  ModelStreamError: 'failing',
};

/** What a failed call says about the backend, by the runtime's error among its causes. */
export function findingOfError(error: unknown): Finding | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const finding = findings[cause.name];
    if (finding !== undefined) return typeof finding === 'function' ? finding(cause) : finding;
  }
  return 'failing';
}

/** A container that ends a request is healthy, whatever became of the picture. A busy one says nothing: it did not try. */
export function findingOfEvent(event: ModelEvent): Finding | null {
  if (event.event === 'completed') return 'healthy';
  if (event.event !== 'failed' || event.reason === 'busy') return null;
  return event.reason === 'unavailable' ? 'failing' : 'healthy';
}

/** A deadline counts as a failure only while the container has sent nothing. Other aborts are not its fault. */
export function findingOfAbort({ reason }: AbortSignal, heard: boolean): Finding | null {
  return reason?.name === 'TimeoutError' && !heard ? 'failing' : null;
}
