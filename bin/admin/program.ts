import { Command, Option } from 'commander';
import { parseArguments, withErrorLines } from '../common/command-line.ts';
import { withExamples } from './command.ts';
import { addAccountCommands } from './account.ts';
import { addAuditCommand } from './audit.ts';
import { addGenerationCommands } from './generation.ts';
import { addIdentityCommands } from './identity.ts';
import { addKeyCommands } from './key.ts';
import { addLicenseCommands } from './license.ts';
import { addLocalSessionCommand } from './local-session.ts';
import { addSweepCommand } from './sweep.ts';
import { addUsageCommand } from './usage.ts';
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

function buildProgram(): Command {
  const program = withErrorLines(new Command('admin'))
    .description(
      'Operates the Image Generation Service: its identities, accounts, licenses and keys.\n' +
        'It works on the local service, or on AWS when a table or a stack is named.',
    )
    .option('--json', 'print exactly one JSON object, for programs')
    .option(
      '--data <dir>',
      'the local service that runs on this data folder (default: .local)',
      nonEmpty('--data'),
    )
    .option('--table <name>', 'this DynamoDB table on AWS (default: TABLE_NAME, if set)', nonEmpty('--table'))
    .addOption(
      new Option(
        '--stack <name>',
        'the table and the user pool of this deployed stack, from its CloudFormation outputs',
      )
        .argParser(nonEmpty('--stack'))
        .conflicts('table'),
    )
    .option('--region <region>', 'the AWS region (default: AWS_REGION)', region('--region'))
    .configureHelp({ showGlobalOptions: true });
  addIdentityCommands(program);
  addAccountCommands(program);
  addLicenseCommands(program);
  addKeyCommands(program);
  addUsageCommand(program);
  addAuditCommand(program);
  addGenerationCommands(program);
  addSweepCommand(program);
  addLocalSessionCommand(program);
  return withExamples(program, examples);
}
