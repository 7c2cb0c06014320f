import type { ServiceFault } from './dynalite.ts';

/** An error of DynamoDB's own API, as its JSON protocol writes it. `more` adds members to the body. */
export function fault(name: string, message: string, more: Record<string, unknown> = {}): ServiceFault {
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message, ...more };
  return Object.assign(new Error(message), { statusCode: 400, body });
}

export function isFault(error: unknown): error is ServiceFault {
  return error instanceof Error && 'statusCode' in error && 'body' in error;
}

/** `ValidationException`, whichever Java package the fault names. */
export function faultName(error: ServiceFault): string {
  return error.body.__type.split('#').at(-1) ?? '';
}
