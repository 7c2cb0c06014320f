import { randomBytes, randomUUID } from 'node:crypto';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { openTable, type Table } from '../shared/store/table.ts';
import { tableSchema } from '../shared/store/table-keys.ts';
import { newSigningKey, type Account } from './cognito/user-pool.ts';
import {
  readServiceFile,
  writeServiceFile,
  type DataFolder,
  type DemoFile,
  type SignInFile,
} from './data-folder.ts';
import { demoAccounts, type DemoOwner } from './demo-world.ts';
import { seedDemoWorld } from './seed.ts';

export interface World {
  demo: DemoFile;
  signIn: SignInFile;
  /** Whether this start made it. */
  firstStart: boolean;
}

/** The demo world of a data folder, made with its table on the first start. */
export async function openWorld(folder: DataFolder, tableName: string): Promise<World> {
  const service = readServiceFile(folder);
  const { demo, signIn } = service;
  if (demo !== null && signIn !== null) return { demo, signIn, firstStart: false };
  const table = openTable(tableName);
  const owners: Record<DemoOwner, string> = { owner: randomUUID(), stranger: randomUUID() };
  const [signingKey] = await Promise.all([newSigningKey(), createTable(table)]);
  const world = {
    demo: await seedDemoWorld(table, owners, Date.now()),
    signIn: { accounts: accountsOf(owners), signingKey },
  };
  writeServiceFile(folder, { ...service, ...world });
  return { ...world, firstStart: true };
}

async function createTable({ documents, name }: Table): Promise<void> {
  await documents.send(new CreateTableCommand({ TableName: name, ...structuredClone(tableSchema) } as never));
}

function accountsOf(owners: Record<DemoOwner, string>): Account[] {
  return (['owner', 'stranger'] as const).map((name) => ({
    sub: owners[name],
    email: demoAccounts[name].email,
    password: randomBytes(9).toString('base64url'),
  }));
}
