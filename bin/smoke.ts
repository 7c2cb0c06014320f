import { enableCompileCache } from 'node:module';
import { tolerateClosedPipe } from './common/closed-pipe.ts';

// Set before other imports: from the second run on, Node.js loads compiled code from its cache.
enableCompileCache();
tolerateClosedPipe();
const { runSmoke } = await import('./smoke/program.ts');
process.exitCode = await runSmoke(process.argv.slice(2));
