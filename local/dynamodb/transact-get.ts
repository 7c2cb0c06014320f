import type { Context } from './context.ts';
import { call, dynaliteOperation } from './dynalite.ts';
import type { Item, Request } from './dynalite.ts';
import { openView } from './store.ts';
import type { Entry } from './transaction-shapes.ts';
import { checkSize, checkTargets, consumed } from './transactions.ts';

const { action: getItem } = dynaliteOperation('getItem');

/**
 * TransactGetItems: all items from one snapshot, so that no transaction is ever seen in part. It never waits.
 */
export async function transactGetItems({ level }: Context, request: Request): Promise<unknown> {
  const { ReturnConsumedCapacity } = request;
  const gets = (request['TransactItems'] as Entry[]).flatMap((entry) => entry?.['Get'] ?? []);
  checkTargets(
    level,
    gets.map((get) => ({ kind: 'Get', request: get })),
  );
  const snapshot = level.snapshot();
  try {
    const { store } = openView(level, { snapshot });
    const answers = [];
    for (const get of gets) {
      const whole = {
        ...get,
        ConsistentRead: true,
        ...(ReturnConsumedCapacity && { ReturnConsumedCapacity }),
      };
      answers.push((await call(getItem, store, whole)) as { Item?: Item });
    }
    checkSize(answers.map(({ Item }) => Item ?? {}));
    const Responses = answers.map(({ Item }) => (Item ? { Item } : {}));
    return { Responses, ...consumed(answers, 'Read') };
  } finally {
    await snapshot.close();
  }
}
