import { runCosts } from './costs/program.ts';

process.exitCode = await runCosts(process.argv.slice(2));
