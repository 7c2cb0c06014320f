import { keepService, type ServiceFixture, type ServiceOptions } from './fixture.ts';
import { useFixture } from './use-fixture.ts';

/** A service for the tests of one file: for options of its own, or for a look at the whole log or table. */
export function useService(options: ServiceOptions = {}): ServiceFixture {
  return useFixture((keep) => keepService(keep, options));
}
