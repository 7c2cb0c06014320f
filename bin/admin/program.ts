import { Command } from 'commander';
import { parseArguments, withErrorLines, withOptions, type OptionRow } from '../common/command-line.ts';
import { addCommands, withExamples } from './command.ts';
import { accountCommands } from './account.ts';
import { auditCommand } from './audit.ts';
import { findCommand } from './find.ts';
import { generationCommands } from './generation.ts';
import { identityCommands } from './identity.ts';
import { keyCommands } from './key.ts';
import { licenseCommands } from './license.ts';
import { addLocalSessionCommand } from './local-session.ts';
import { reportCommands } from './report.ts';
import { rolesCommand } from './roles.ts';
import { sweepCommand } from './sweep.ts';
import { usageCommand } from './usage.ts';
import { nonEmpty, region } from '../common/values.ts';

const examples = [
  'license grant --owner ada@example.com --tier pro --founding-catalog',
  'key issue LICENSE --name "my app"',
  'usage LICENSE --json',
  'license list --stack image-generation-prod --region eu-west-1',
];

/** Runs one command of the operator's. @returns the exit code: 0 done, 1 failed, 2 wrong usage. */
export function runAdmin(args: string[]): Promise<number> {
  return parseArguments(buildProgram(), args);
}

const ofStack = 'the table and the user pool of this deployed stack, from its CloudFormation outputs';
const options: OptionRow[] = [
  ['--json', 'print exactly one JSON object, for programs'],
  ['--data <dir>', 'the local service that runs on this data folder (default: .local)', nonEmpty],
  ['--table <name>', 'this DynamoDB table on AWS (default: TABLE_NAME, if set)', nonEmpty],
  ['--stack <name>', ofStack, nonEmpty, { conflicts: ['table'] }],
  ['--region <region>', 'the AWS region (default: AWS_REGION)', region],
];

/** Exported for the test of what the docs say to type. */
export function buildProgram(): Command {
  const program = withErrorLines(new Command('admin')).description(
    'Operates the Image Generation Service: its identities, accounts, licenses and keys.\n' +
      'It works on the local service, or on AWS when a table or a stack is named.',
  );
  withOptions(program, options).configureHelp({ showGlobalOptions: true });
  addCommands(program, [
    identityCommands,
    accountCommands,
    licenseCommands,
    keyCommands,
    usageCommand,
    reportCommands,
    auditCommand,
    generationCommands,
    sweepCommand,
    findCommand,
    rolesCommand,
  ]);
  addLocalSessionCommand(program);
  return withExamples(program, examples);
}
