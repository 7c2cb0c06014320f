import type { Table } from '../../shared/store/table.ts';

/** A command on its way to the table; DynamoDB's own values in its input are `{ S: … }`. */
export interface Command {
  name: string;
  input: any;
  /** Sends it. @returns the table's answer. */
  send(): Promise<any>;
}

/** Puts a test between the service and its table, whichever of the two clients speaks. Before the first command. */
export function onTheLine(table: Table, meet: (command: Command) => Promise<unknown>): void {
  for (const client of [table.client, table.documents]) {
    client.middlewareStack.add(
      (next, context) => async (args) => {
        let result: Awaited<ReturnType<typeof next>> | undefined;
        await meet({
          name: context.commandName ?? '',
          input: args.input,
          send: async () => (result = await next(args)).output,
        });
        return result!;
      },
      { step: 'initialize', name: 'line' },
    );
  }
}
