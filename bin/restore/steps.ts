import { setTimeout as wait } from 'node:timers/promises';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Actor } from '../../shared/accounts/audit.ts';
import { isoTime } from '../../shared/base/clock.ts';
import { counted } from '../common/output.ts';
import { openStores } from '../common/stores.ts';
import { readLosses, loseAgain, type Losses } from './losses.ts';
import { readReserved, setReserved, type Reserved } from './concurrency.ts';
import { backUp, describeTable, isThere, replaceTable, restoreToTime, setSettings } from './tables.ts';

export interface RestoreOptions {
  say(text: string): void;
  /** Between two questions whether AWS has done something. */
  pauseMs: number;
  /** For what runs when the service is closed; null for as long as its functions may run. */
  drainMs: number | null;
}

/** How far a restoration is, so that another run goes on. */
export interface State {
  toMs: number;
  /** The table with the old state. */
  copy: string;
  reserved: Reserved;
  longestSeconds: number;
  /** Whether it may be closed. */
  isClosed?: true;
  closedAtMs?: number;
  losses?: Losses;
  backups?: { present: string | null; old: string };
  /** Of the table that is replaced; null where there was none any more. */
  tableId?: string | null;
}

export interface Restoration extends RestoreOptions {
  client: DynamoDBClient;
  stackName: string;
  tableName: string;
  bucketName: string;
  by: Actor;
  state: State;
  save(): void;
}

interface Step {
  what: string;
  run(): Promise<void>;
}

/** Each can be done again, and leaves what is done already. */
export function stepsOf(restoration: Restoration): Step[] {
  const { client, state, tableName, pauseMs } = restoration;
  const { copy, toMs } = state;
  const functions = Object.keys(state.reserved);
  return [
    {
      what: `Restore the state of ${isoTime(toMs)} into ${copy}, where it is not there.`,
      run: () => restoreToTime(client, tableName, copy, toMs, pauseMs),
    },
    {
      what: `Close the service: 0 reserved for its ${counted(functions.length, 'function')}. Then wait ${waitSeconds(restoration)} s for what runs. It stays closed until the last step, whatever happens.`,
      run: () => close(restoration),
    },
    {
      what: 'Note the keys that are revoked, the licenses that are not active, and the sessions that have ended.',
      run: () => note(restoration),
    },
    {
      what: `Back up ${tableName} (before-restoring) and ${copy} (restoring).`,
      run: () => backUpBoth(restoration),
    },
    {
      what: `Note them again, delete ${tableName}, and restore the backup of ${copy} under its name.`,
      run: async () => {
        await note(restoration);
        await replaceTable(client, tableName, state.tableId ?? null, state.backups!.old, pauseMs);
      },
    },
    {
      what: 'Set what a restored table lacks: time to live, point-in-time recovery, deletion protection, its tag.',
      run: () => setSettings(client, tableName, restoration.stackName, pauseMs),
    },
    {
      what: 'Revoke and end again, end what ran at that moment, and delete again what lies below erased/.',
      run: () => again(restoration),
    },
    {
      what: 'Open the service: reserve for each function what it had.',
      run: () => setReserved(state.reserved),
    },
  ];
}

const waitSeconds = ({ state, drainMs }: Restoration): number =>
  drainMs === null ? state.longestSeconds + 30 : drainMs / 1000;

async function close(restoration: Restoration): Promise<void> {
  const { client, state, save, tableName } = restoration;
  const zero = Object.fromEntries(Object.keys(state.reserved).map((name) => [name, 0]));
  const { reserved } = await readReserved(Object.keys(zero));
  state.isClosed = true;
  if (Object.values(reserved).some((count) => count !== 0)) {
    // Somebody may have used it since, so what was noted of the table may not be all.
    delete state.closedAtMs;
    if (state.tableId && (await isThere(client, tableName, state.tableId))) {
      for (const name of ['losses', 'tableId', 'backups'] as const) delete state[name];
    }
    save();
    await setReserved(zero);
  }
  state.closedAtMs ??= Date.now();
  save();
  await wait(Math.max(0, state.closedAtMs + waitSeconds(restoration) * 1000 - Date.now()));
}

async function note({ client, state, tableName, save }: Restoration): Promise<void> {
  if (state.tableId === undefined) state.tableId = (await describeTable(client, tableName))?.TableId ?? null;
  if (state.tableId && (await isThere(client, tableName, state.tableId))) {
    state.losses = await readLosses(tableName);
  }
  save();
}

async function backUpBoth({ client, state, tableName, pauseMs, say, save }: Restoration): Promise<void> {
  if (state.backups !== undefined) return;
  const present =
    state.tableId === null ? null : await backUp(client, tableName, 'before-restoring', pauseMs);
  state.backups = { present, old: await backUp(client, state.copy, 'restoring', pauseMs) };
  save();
  say(`   ${present ?? 'no present state'}, ${state.backups.old}`);
}

async function again({ tableName, bucketName, by, state, say }: Restoration): Promise<void> {
  const stores = openStores(tableName);
  try {
    for (const sentence of await loseAgain(stores, bucketName, by, state.losses)) say(`   ${sentence}`);
  } finally {
    stores.close();
  }
}
