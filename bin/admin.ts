import { enableCompileCache } from 'node:module';

// Set before anything else is imported: from the second run on, nothing is compiled twice.
enableCompileCache();
const { runAdmin } = await import('./admin/program.ts');
process.exitCode = await runAdmin(process.argv.slice(2));
