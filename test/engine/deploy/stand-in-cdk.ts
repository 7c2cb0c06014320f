import { appendFileSync, writeFileSync } from 'node:fs';

/*
 * Stands in for the programs that a deployment runs: writes down how it was called, then does what the test wants, which the
 * environment names: leave outputs, fail, or wait for a signal.
 */
const { STAND_IN_LOG: log = '', STAND_IN_OUTPUTS: outputs, STAND_IN_FAILS: fails } = process.env;
const args = process.argv.slice(2);
const [role] = args;
const { AWS_PROFILE: profile, AWS_REGION: region } = process.env;
appendFileSync(log, `${JSON.stringify({ args, profile, region })}\n`);

const outputsFile = args[args.indexOf('--outputs-file') + 1];
if (fails !== undefined && fails === role) {
  process.stderr.write('the words of the program that failed\n');
  process.exit(7);
}
if (process.env.STAND_IN_WAITS === role) {
  process.on('SIGINT', () => {
    process.stdout.write('interrupted\n');
    process.exit(130);
  });
  setInterval(() => {}, 1000);
  process.stdout.write('waiting\n');
} else if (role === 'deploy' && outputs !== undefined && outputsFile !== undefined) {
  process.stdout.write('deploying\n');
  writeFileSync(outputsFile, outputs);
}
