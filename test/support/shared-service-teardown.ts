import { endOfSharedService } from './shared-service-setup.ts';

/** After the http tests: ends the shared service and removes its data. */
export default async function teardown(): Promise<void> {
  await endOfSharedService.end?.();
}
