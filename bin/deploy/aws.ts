import type { STSClient } from '@aws-sdk/client-sts';
import { Failure } from '../common/failure.ts';

/** Where a deployment goes, and how AWS is asked about it. */
export interface Aws {
  settings: { region: string; credentials: STSClient['config']['credentials'] };
  accountId: string;
  /** The options of the AWS CLI and the CDK for this place: `--region eu-west-1`. */
  options: string[];
  /** How long AWS may take to answer one question. */
  timeLimitMs: number;
}

export const defaultTimeLimitMs = 20_000;

/** A command of the AWS CLI for this place, to be pasted. */
export function cliCommand({ options }: Pick<Aws, 'options'>, command: string): string {
  return ['aws', command, ...options].join(' ');
}

interface Client {
  destroy(): void;
}
type Limited = { abortSignal: AbortSignal };

/**
 * Asks AWS with a client of its own. The time limit is for the whole question, with its pages and repetitions.
 * @throws Failure after the time limit; the SDK's error if AWS refuses.
 */
export async function ask<C extends Client, T>(
  { settings, timeLimitMs }: Pick<Aws, 'settings' | 'timeLimitMs'>,
  ClientOfService: new (settings: Aws['settings']) => C,
  question: (client: C, options: Limited) => Promise<T>,
): Promise<T> {
  // Looking for credentials may ask the person for a code, which takes as long as it takes.
  await settings.credentials();
  const client = new ClientOfService(settings);
  const abortSignal = AbortSignal.timeout(timeLimitMs);
  try {
    return await question(client, { abortSignal });
  } catch (error) {
    if (!abortSignal.aborted) throw error;
    throw new Failure(`AWS did not answer within ${timeLimitMs / 1000} seconds.`, 1, { cause: error });
  } finally {
    client.destroy();
  }
}

export function isMissingPermission(error: unknown): boolean {
  return error instanceof Error && /^(AccessDenied|UnauthorizedOperation|NotAuthorized)/.test(error.name);
}
