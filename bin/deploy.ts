import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { tolerateClosedPipe } from './common/closed-pipe.ts';

// Set before other imports: from the second run on, Node.js loads compiled code from its cache.
enableCompileCache();
tolerateClosedPipe();
const { runDeploy } = await import('./deploy/program.ts');
const root = fileURLToPath(new URL('..', import.meta.url));
process.exitCode = await runDeploy(process.argv.slice(2), {
  root,
  cdk: [process.execPath, `${root}node_modules/aws-cdk/bin/cdk`],
  buildDashboard: [process.execPath, `${root}bin/build-dashboard.ts`],
});
