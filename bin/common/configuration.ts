import { ConfigurationError } from '../../lib/configuration.ts';
import { Failure } from './failure.ts';

/** @throws Failure that names every option that is wrong. */
export function configurationOrFailure<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigurationError) throw new Failure(error.message, 1, { cause: error });
    throw error;
  }
}
