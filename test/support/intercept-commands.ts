import type { Table } from '../../shared/table/table.ts';

/** A command to the table. Its input has DynamoDB's own values: `{ S: … }`. */
export interface Command {
  name: string;
  input: any;
  /** Sends it. @returns the table's answer. */
  send(): Promise<any>;
}

/** Gives a test each command of a table's two clients before it is sent. Call it before the first command. */
export function interceptCommands(table: Table, handle: (command: Command) => Promise<unknown>): void {
  for (const client of [table.client, table.documents]) {
    client.middlewareStack.add(
      (next, context) => async (args) => {
        let result: Awaited<ReturnType<typeof next>> | undefined;
        await handle({
          name: context.commandName ?? '',
          input: args.input,
          send: async () => (result = await next(args)).output,
        });
        return result!;
      },
      { step: 'initialize', name: 'intercept' },
    );
  }
}
