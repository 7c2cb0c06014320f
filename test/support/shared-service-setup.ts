import { runProgram } from './run-program.ts';
import { inRepository } from './repository.ts';
import { removeFolder, sharedServiceVariable, startService } from './service.ts';

/** Before the http tests: starts the service that they share. Its aurora paints as harbor does, which takes half the time. */
export default async function setup(): Promise<void> {
  const service = await startService();
  const quick = ['--id', service.ready.identities.aurora!, '--settings', JSON.stringify({ style: 'harbor' })];
  const args = ['identity', 'put', ...quick, '--data', service.dataDir, '--yes'];
  const { code, stderr } = await runProgram(inRepository('bin/admin.ts'), args);
  if (code !== 0) throw new Error(stderr);
  // Every worker inherits it.
  process.env[sharedServiceVariable] = service.dataDir;
  endOfSharedService.end = async () => {
    await service.end();
    removeFolder(service.dataDir);
  };
}

/** Where the teardown finds what the setup started. */
export const endOfSharedService: { end?: () => Promise<void> } = {};
