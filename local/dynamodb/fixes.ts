import { holds } from './conditions.ts';
import { db } from './dynalite.ts';
import type { Item, Request, ServiceFault } from './dynalite.ts';
import { fault } from './faults.ts';
import { createIndexKey, updateIndexes, withEmptyIndexKeyCheck } from './indexes.ts';
import { queryTable } from './pages.ts';
import { prepareUpdate } from './updates.ts';

/**
 * Replaces functions of dynalite that are wrong, wasteful or incomplete; each replacement gives its reason.
 * dynalite's actions look their helpers up on one object at each call, so replacing them there is enough.
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
 * dynalite calls this after it has read an item and before it changes it. So it also prepares the update, which
 * needs the item. dynalite does not know ReturnValuesOnConditionCheckFailure.
 */
function checkConditional(request: Request, existing: Item | undefined): ServiceFault | null {
  if (request._condition && !holds(request._condition.expression, existing ?? {})) {
    const isWanted = existing && request.ReturnValuesOnConditionCheckFailure === 'ALL_OLD';
    const more = isWanted ? { Item: existing } : {};
    return fault('ConditionalCheckFailedException', 'The conditional request failed', more);
  }
  if (request._updates) prepareUpdate(request._updates.sections, existing ?? {});
  return null;
}
