import { Command, CommanderError, Option } from 'commander';
import { withExamples } from './command.ts';
import { Failure } from './failure.ts';
import { addGenerationCommands } from './generation.ts';
import { addIdentityCommands } from './identity.ts';
import { addKeyCommands } from './key.ts';
import { addLicenseCommands } from './license.ts';
import { addLocalSessionCommand } from './local-session.ts';
import { errorLine } from './output.ts';
import { addSweepCommand } from './sweep.ts';
import { addUsageCommand } from './usage.ts';
import { nonEmpty, region } from './values.ts';

const examples = [
  'license grant --owner SUB --tier pro --founding-catalog',
  'key issue LICENSE --name "my app"',
  'usage LICENSE --json',
  'license list --stack image-generation-prod --region eu-west-1',
];

/** Runs one command of the operator's. @returns the exit code: 0 done, 1 not possible, 2 not asked for rightly. */
export async function runAdmin(args: string[]): Promise<number> {
  // A reader that had enough, as in `… | head`, is no failure.
  process.stdout.on('error', () => process.exit(0));
  try {
    await buildProgram().parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said why already, or printed the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(errorLine(error.message));
    return error.exitCode;
  }
}

function buildProgram(): Command {
  const program = new Command('admin')
    .description(
      'Operates the Image Generation Service: its identities, licenses (access records) and keys.\n' +
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
        'the table of this deployed stack, from its CloudFormation output TableName',
      )
        .argParser(nonEmpty('--stack'))
        .conflicts('table'),
    )
    .option('--region <region>', 'the AWS region (default: AWS_REGION)', region('--region'))
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(oneSentence(text)) })
    .exitOverride();
  addIdentityCommands(program);
  addLicenseCommands(program);
  addKeyCommands(program);
  addUsageCommand(program);
  addGenerationCommands(program);
  addSweepCommand(program);
  addLocalSessionCommand(program);
  return withExamples(program, examples);
}

/** Commander puts its suggestion on a line of its own. */
function oneSentence(text: string): string {
  return errorLine(text.replace(/^error: /, '').replace(/\n\(Did/, ' (did'));
}
