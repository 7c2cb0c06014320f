import type { Context } from './context.ts';
import { db } from './dynalite.ts';
import type { Level, Request, Shape } from './dynalite.ts';
import { readTable } from './store.ts';

/**
 * Time to live: the setting is kept, so that what sets it up and what checks it work as on AWS. Items are not
 * deleted; on AWS that may take days, so that code must not rely on it there either.
 */

const tableName: Shape = {
  type: 'String',
  notNull: true,
  regex: '[a-zA-Z0-9_.-]+',
  lengthGreaterThanOrEqual: 3,
  lengthLessThanOrEqual: 255,
};

export const describeTypes: Record<string, Shape> = { TableName: tableName };

export const updateTypes: Record<string, Shape> = {
  TableName: tableName,
  TimeToLiveSpecification: {
    type: 'FieldStruct<TimeToLiveSpecification>',
    notNull: true,
    children: {
      AttributeName: {
        type: 'String',
        notNull: true,
        lengthGreaterThanOrEqual: 1,
        lengthLessThanOrEqual: 255,
      },
      Enabled: { type: 'Boolean', notNull: true },
    },
  },
};

/** The key under which a table's setting is kept. It is absent while time to live is off. */
export function timeToLiveKey(table: string): string {
  return `ttl~${table}`;
}

function attributeOf(level: Level, table: string): string | undefined {
  return level.getSync(timeToLiveKey(table)) as string | undefined;
}

export async function describeTimeToLive({ level }: Context, { TableName }: Request): Promise<unknown> {
  readTable(level, TableName, false);
  const AttributeName = attributeOf(level, TableName);
  const description = AttributeName
    ? { TimeToLiveStatus: 'ENABLED', AttributeName }
    : { TimeToLiveStatus: 'DISABLED' };
  return { TimeToLiveDescription: description };
}

export function updateTimeToLive({ level, exclusive }: Context, request: Request): Promise<unknown> {
  const { AttributeName, Enabled } = request['TimeToLiveSpecification'] as {
    AttributeName: string;
    Enabled: boolean;
  };
  return exclusive(async () => {
    readTable(level, request.TableName, false);
    const current = attributeOf(level, request.TableName);
    if (current !== undefined && current !== AttributeName) {
      throw db.validationError(
        `TimeToLive is active on a different AttributeName: current AttributeName is ${current}`,
      );
    }
    if (Enabled === (current !== undefined)) {
      throw db.validationError(`TimeToLive is already ${Enabled ? 'enabled' : 'disabled'}`);
    }
    const key = timeToLiveKey(request.TableName);
    await level.batch([Enabled ? { type: 'put', key, value: AttributeName } : { type: 'del', key }]);
    return { TimeToLiveSpecification: { AttributeName, Enabled } };
  });
}
