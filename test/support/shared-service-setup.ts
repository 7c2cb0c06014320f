import { removeFolder, sharedServiceVariable, startService } from './service.ts';

/** Before the http tests: starts the service that they share. */
export default async function setup(): Promise<void> {
  const service = await startService();
  // Every worker inherits it.
  process.env[sharedServiceVariable] = service.dataDir;
  endOfSharedService.end = async () => {
    await service.end();
    removeFolder(service.dataDir);
  };
}

/** Where the teardown finds what the setup started. */
export const endOfSharedService: { end?: () => Promise<void> } = {};
