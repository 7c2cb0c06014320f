import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache();
const { runDeploy } = await import('../../../bin/deploy/program.ts');

/** `npm run deploy` with stand-ins for the programs that it runs, on the repository that `STAND_IN_ROOT` names. */
const standIn = fileURLToPath(new URL('stand-in-cdk.ts', import.meta.url));
process.exitCode = await runDeploy(process.argv.slice(2), {
  root: process.env.STAND_IN_ROOT!,
  cdk: process.env.STAND_IN_NO_CDK ? ['/no/such/cdk'] : [process.execPath, standIn],
  buildDashboard: [process.execPath, standIn, 'build'],
  timeLimitMs: Number(process.env.STAND_IN_TIME_LIMIT_MS),
  drainMs: 0,
});
