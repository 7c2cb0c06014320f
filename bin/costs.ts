import { tolerateClosedPipe } from './common/closed-pipe.ts';
import { runCosts } from './costs/program.ts';

tolerateClosedPipe();
process.exitCode = await runCosts(process.argv.slice(2));
