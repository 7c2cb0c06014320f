import { enableCompileCache } from 'node:module';

// Set before other imports: from the second run on, Node.js loads compiled code from its cache.
enableCompileCache();
const { runSmoke } = await import('./smoke/program.ts');
process.exitCode = await runSmoke(process.argv.slice(2));
