import { CommanderError, type Command } from 'commander';
import { Failure } from '../admin/failure.ts';
import { errorLine } from '../admin/output.ts';

/**
 * Runs a program of one command, which says itself what its exit code is.
 * @returns that code; 1 when it ended with a Failure, 2 when it was not asked for rightly.
 */
export async function runCommand(
  command: Command,
  args: string[],
  work: () => Promise<number>,
): Promise<number> {
  let exitCode = 0;
  command
    .configureOutput({ outputError: (text, write) => write(oneSentence(text)) })
    .exitOverride()
    .allowExcessArguments(false)
    .action(async () => void (exitCode = await work()));
  try {
    await command.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has said why already, or printed the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(errorLine(error.message));
    return error.exitCode;
  }
}

/** Commander puts its suggestion on a line of its own. */
function oneSentence(text: string): string {
  return errorLine(text.replace(/^error: /, '').replace(/\n\(Did/, ' (did'));
}
