import type { Context } from './context.ts';
import { call, db, dynaliteOperation } from './dynalite.ts';
import type { Action, Item, Request, Write } from './dynalite.ts';
import { fault } from './faults.ts';
import { openView } from './store.ts';
import { fingerprintOf } from './tokens.ts';
import type { Entry } from './transaction-shapes.ts';
import { cancelled, checkSize, checkTargets, consumed, none, reasonFor, type Step } from './transactions.ts';

const actions: Record<string, Action> = {
  ConditionCheck: conditionCheck,
  Put: dynaliteOperation('putItem').action,
  Delete: dynaliteOperation('deleteItem').action,
  Update: dynaliteOperation('updateItem').action,
};

/**
 * TransactWriteItems. Each part runs as the operation it is, on a view of the database that only collects
 * writes; if all parts succeed, everything is committed as one LevelDB batch, the ClientRequestToken with it.
 */
export function transactWriteItems(
  context: Context,
  request: Request,
  body: Record<string, unknown>,
): Promise<unknown> {
  const token = request['ClientRequestToken'] as string | undefined;
  const fingerprint = token === undefined ? '' : fingerprintOf(body['TransactItems']);
  const steps = (request['TransactItems'] as Entry[]).flatMap((entry) => toSteps(entry, request));
  return context.exclusive(async () => {
    const before = token === undefined ? undefined : context.tokens.find(token);
    if (before === fingerprint) return {};
    if (before !== undefined) {
      throw fault(
        'IdempotentParameterMismatchException',
        'The request uses the same client token as a previous, but non-identical request.',
      );
    }
    checkTargets(context.level, steps);
    const { writes, answers } = await runAll(context, steps);
    const remembered = token === undefined ? [] : await context.tokens.remember(token, fingerprint);
    await context.commit([...writes, ...remembered]);
    return consumed(answers);
  });
}

function toSteps(entry: Entry, { ReturnConsumedCapacity }: Request): Step[] {
  return Object.entries(entry ?? {}).map(([kind, request]) => ({
    kind,
    request: { ...request, ...(ReturnConsumedCapacity && { ReturnConsumedCapacity }) },
  }));
}

/** Runs every part, even after one has failed: the answer has a reason for each. */
async function runAll({ level }: Context, steps: Step[]): Promise<{ writes: Write[]; answers: unknown[] }> {
  const writes: Write[] = [];
  const answers: unknown[] = [];
  const reasons = [];
  for (const { kind, request } of steps) {
    const view = openView(level);
    try {
      answers.push(await call(actions[kind] as Action, view.store, request));
      reasons.push(none);
    } catch (error) {
      reasons.push(reasonFor(error));
    }
    writes.push(...view.writes);
  }
  if (reasons.some((reason) => reason !== none)) throw cancelled(reasons);
  checkSize([...itemsIn(writes), ...steps.map(({ request }) => request.Key ?? {})]);
  return { writes, answers };
}

function itemsIn(writes: Write[]): Item[] {
  return writes.flatMap((write) =>
    write.type === 'put' && write.key.startsWith('item-') ? [write.value as Item] : [],
  );
}

/** ConditionCheck, in the form of dynalite's actions. */
function conditionCheck(...[store, request, done]: Parameters<Action>): void {
  store.getTable(request.TableName, (missing, table) => {
    if (missing || !table) return done(missing);
    const items = store.getItemDb(request.TableName);
    items.get(db.createKey(request.Key ?? {}, table), (error, found) => {
      const existing = found as Item | undefined;
      const failed = error ?? db.checkConditional(request, existing);
      done(failed, { ConsumedCapacity: db.addConsumedCapacity(request, false, existing) });
    });
  });
}
