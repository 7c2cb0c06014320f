import { enableCompileCache } from 'node:module';

// Set before anything else is imported: from the second run on, nothing is compiled twice.
enableCompileCache();
const { runSmoke } = await import('./smoke/program.ts');
process.exitCode = await runSmoke(process.argv.slice(2));
