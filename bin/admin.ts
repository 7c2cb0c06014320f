import { enableCompileCache } from 'node:module';

// Set before other imports: from the second run on, Node.js loads compiled code from its cache.
enableCompileCache();
// A closed pipe, as in `… | head`, is no failure.
process.stdout.on('error', () => process.exit(0));
const { runAdmin } = await import('./admin/program.ts');
process.exitCode = await runAdmin(process.argv.slice(2));
