import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { openTable, type Table } from '../shared/store/table.ts';
import { tableSchema } from '../shared/store/table-keys.ts';
import { readServiceFile, writeServiceFile, type DataFolder, type DemoFile } from './data-folder.ts';
import { seedDemoWorld } from './seed.ts';

/** The demo world of a data folder, made with its table on the first start. */
export async function openWorld(
  folder: DataFolder,
  tableName: string,
): Promise<{ demo: DemoFile; firstStart: boolean }> {
  const service = readServiceFile(folder);
  if (service.demo !== null) return { demo: service.demo, firstStart: false };
  const table = openTable(tableName);
  await createTable(table);
  const demo = await seedDemoWorld(table, Date.now());
  writeServiceFile(folder, { ...service, demo });
  return { demo, firstStart: true };
}

async function createTable({ documents, name }: Table): Promise<void> {
  await documents.send(new CreateTableCommand({ TableName: name, ...structuredClone(tableSchema) } as never));
}
