import { AwsFault, startRest, type RestAnswer } from '../http/rest.ts';
import type { RunningServer } from '../http/server.ts';
import type { SigningScope } from '../http/signed.ts';

/** The functions by their names. */
export type Functions = Record<string, (event: any) => Promise<unknown>>;

export interface LambdaOptions extends Omit<SigningScope, 'service'> {
  functions: Functions;
}

/** Where a function is invoked, below the engine's or AWS's own address (AWS Lambda API, "Invoke"). */
export function invocationPath(functionName: string): string {
  return `/2015-03-31/functions/${functionName}/invocations`;
}

/** Every function has this alias, as in a deployment. */
const onlyAlias = 'live';

/** AWS's limit for an event. */
const maxBodyBytes = 6 * 1024 * 1024;

/** Starts Lambda's Invoke in front of functions of this process, by name or by `NAME%3Alive`. The caller waits for them. */
export function startLambda({ functions, ...signing }: LambdaOptions): Promise<RunningServer> {
  const options = {
    ...signing,
    service: 'lambda',
    maxBodyBytes,
    signatureFault: 'InvalidSignatureException',
  };
  return startRest(options, async ({ url = '', method, headers }, body) => {
    const path = /^\/2015-03-31\/functions\/([\w-]+)(?:%3A([\w-]+))?\/invocations$/.exec(url);
    const [, name, alias = onlyAlias] = path ?? [];
    if (name === undefined || method !== 'POST') {
      throw new AwsFault('UnknownOperationException', 'This engine serves Invoke.', 404);
    }
    const run = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (run === undefined || alias !== onlyAlias) {
      throw new AwsFault('ResourceNotFoundException', `Function not found: ${name}`, 404);
    }
    const event = parse(body);
    const type = headers['x-amz-invocation-type'] ?? 'RequestResponse';
    if (type === 'RequestResponse') return answerOf(run, event);
    throw new AwsFault('ValidationException', `This engine invokes no function as ${String(type)}.`);
  });
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new AwsFault('InvalidRequestContentException', 'The event is not JSON.');
  }
}

/** When a function throws, the status is 200 as well, with a header that marks the error. */
async function answerOf(run: Functions[string], event: unknown): Promise<RestAnswer> {
  try {
    return { status: 200, value: (await run(event)) ?? null };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    const headers = { 'x-amz-function-error': 'Unhandled' };
    return { status: 200, headers, value: { errorType: name, errorMessage: message } };
  }
}
