import { holds } from './conditions.ts';
import { db } from './dynalite.ts';
import type { Item, Request, ServiceFault } from './dynalite.ts';
import { fault } from './faults.ts';
import { createIndexKey, updateIndexes, withEmptyIndexKeyCheck } from './indexes.ts';
import { queryTable } from './pages.ts';
import { prepareUpdate } from './updates.ts';

/**
 * Replaces the functions of dynalite that are wrong, wasteful or lack something. dynalite's actions look
 * their helpers up on one object at each call, so replacing them there is enough; each replacement says its
 * reason.
 */
export function installFixes(): void {
  if (db.queryTable === queryTable) return;
  db.validateItem = withEmptyIndexKeyCheck(db.validateItem);
  db.checkConditional = checkConditional;
  db.createIndexKey = createIndexKey;
  db.updateIndexes = updateIndexes;
  db.queryTable = queryTable;
}

/**
 * dynalite calls this between reading an item and changing it. Beside the condition it therefore prepares the
 * update, for which the item has to be known. ReturnValuesOnConditionCheckFailure is not dynalite's.
 */
function checkConditional(request: Request, existing: Item | undefined): ServiceFault | null {
  if (!meetsCondition(request, existing ?? {})) {
    const isWanted = existing && request.ReturnValuesOnConditionCheckFailure === 'ALL_OLD';
    const more = isWanted ? { Item: existing } : {};
    return fault('ConditionalCheckFailedException', 'The conditional request failed', more);
  }
  if (request._updates) prepareUpdate(request._updates.sections, existing ?? {});
  return null;
}

function meetsCondition(request: Request, existing: Item): boolean {
  if (request._condition) return holds(request._condition.expression, existing);
  return !request.Expected || db.matchesFilter(existing, request.Expected, request.ConditionalOperator);
}
