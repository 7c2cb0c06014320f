import { enableCompileCache } from 'node:module';
import { tolerateClosedPipe } from './common/closed-pipe.ts';

// Set before other imports: from the second run on, Node.js loads compiled code from its cache.
enableCompileCache();
tolerateClosedPipe();
const { runRestore } = await import('./restore/program.ts');
process.exitCode = await runRestore(process.argv.slice(2));
