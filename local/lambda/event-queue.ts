import { randomUUID } from 'node:crypto';

/** The functions by their names. The request id is what the engine calls the event. */
export type Functions = Record<string, (event: any, context: { awsRequestId: string }) => Promise<unknown>>;

/** The events that nobody waits for. Each runs as soon as it comes. */
export interface EventQueue {
  take(functionName: string, event: unknown): void;
  /** How many run. */
  running(): number;
  /** Resolves once none runs. */
  idle(): Promise<void>;
}

/**
 * Plays Lambda's queue for asynchronous invocations, without a second try.
 * @param onFailure the function that gets the record of an event that failed, by the name of the one that failed.
 */
export function eventQueue(functions: Functions, onFailure: Record<string, string>): EventQueue {
  const runs = new Set<Promise<void>>();
  const take = (name: string, event: unknown): void => {
    const awsRequestId = randomUUID();
    const run = functions[name]!(event, { awsRequestId }).then(
      () => undefined,
      (error: unknown) => {
        const destination = onFailure[name];
        if (destination !== undefined) take(destination, failureRecord(name, event, error, awsRequestId));
      },
    );
    runs.add(run);
    void run.then(() => runs.delete(run));
  };
  return {
    take,
    running: () => runs.size,
    async idle() {
      while (runs.size > 0) await Promise.all(runs);
    },
  };
}

/** What a destination gets (AWS Lambda, "Capturing records of Lambda asynchronous invocations"). */
export function failureRecord(
  functionName: string,
  event: unknown,
  error: unknown,
  requestId: string = randomUUID(),
): object {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return {
    version: '1.0',
    timestamp: new Date().toISOString(),
    requestContext: {
      requestId,
      functionArn: `arn:aws:lambda:us-east-1:000000000000:function:${functionName}:live`,
      condition: 'RetriesExhausted',
      approximateInvokeCount: 1,
    },
    requestPayload: event,
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    responsePayload: { errorType: name, errorMessage: message },
  };
}
