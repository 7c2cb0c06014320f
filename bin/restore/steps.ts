import { setTimeout as wait } from 'node:timers/promises';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Actor } from '../../shared/accounts/audit.ts';
import { isoTime } from '../../shared/base/clock.ts';
import { counted } from '../common/output.ts';
import { openStores } from '../common/stores.ts';
import { readLosses, loseAgain, type Losses } from './losses.ts';
import { setReserved, type Reserved } from './concurrency.ts';
import { backUp, describeTable, replaceTable, restoreToTime, setSettings } from './tables.ts';

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
  /** Whether nobody can use the service from then on. */
  closes?: true;
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
      what: `Close the service: 0 reserved for its ${counted(functions.length, 'function')}. Then wait ${waitSeconds(restoration)} s for what runs.`,
      closes: true,
      run: () => close(restoration),
    },
    {
      what: 'Note the keys, licenses and sessions that were revoked or ended since.',
      run: () => note(restoration),
    },
    {
      what: `Back up ${tableName} (before-restoring) and ${copy} (restoring).`,
      run: () => backUpBoth(restoration),
    },
    {
      what: `Delete ${tableName} and restore the backup of ${copy} under its name.`,
      run: () => replaceTable(client, tableName, state.tableId ?? null, state.backups!.old, pauseMs),
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
  const { state, save } = restoration;
  await setReserved(Object.fromEntries(Object.keys(state.reserved).map((name) => [name, 0])));
  state.closedAtMs ??= Date.now();
  save();
  await wait(Math.max(0, state.closedAtMs + waitSeconds(restoration) * 1000 - Date.now()));
}

async function note({ client, state, tableName }: Restoration): Promise<void> {
  if (state.tableId !== undefined) return;
  const present = await describeTable(client, tableName);
  if (present !== null) state.losses = await readLosses(tableName, state.toMs);
  state.tableId = present?.TableId ?? null;
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
