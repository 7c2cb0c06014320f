import { TransactWriteItemsCommand, type TransactWriteItemsCommandInput } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import type { Generation } from '../../../shared/generations/generation.ts';
import { newId, newRequestId } from '../../../shared/base/ids.ts';
import { toItem } from '../../../shared/generations/item.ts';
import { generationStore } from '../../../shared/generations/store.ts';
import { countInPeriod } from '../../../shared/generations/in-flight.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { itemKeys } from '../../../shared/table/keys.ts';
import { sampleGeneration, sampleNowMs } from '../../support/unit-samples.ts';
import { busy } from './table.ts';
import { useTable } from './use-engines.ts';

const fixture = useTable();
const limits = { creditsLimit: 100, keyBudget: null, maxInFlight: 100 };

const newRecord = (): Generation =>
  sampleGeneration({ requestId: newRequestId(sampleNowMs), licenseId: newId('license') }, { numOutputs: 2 });

/** The attempts to reserve, as they are sent. */
async function attemptsAt(record: Generation): Promise<TransactWriteItemsCommandInput[]> {
  const sent: TransactWriteItemsCommandInput[] = [];
  fixture.state.before = (name, input) => {
    const holdsRecord = JSON.stringify(input).includes(record.requestId);
    if (name === 'TransactWriteItemsCommand' && holdsRecord) sent.push(structuredClone(input));
    return undefined;
  };
  const reserved = await generationStore(fixture.table).reserve(record, limits, 'h');
  fixture.state.before = () => undefined;
  expect(reserved).toEqual({ outcome: 'reserved' });
  return sent;
}

test('an attempt that was refused and arrives again, late, brings back nothing that was deleted since', async () => {
  const { client, documents, name: TableName } = fixture.table;
  const record = newRecord();
  // The period does not count yet what is in flight, so the first attempt is refused.
  const sent = await attemptsAt(record);
  expect(sent).toHaveLength(2);
  const { licenseId, requestId, periodStartMs } = record;
  await documents.send(new DeleteCommand({ TableName, Key: itemKeys.generation(licenseId, requestId) }));
  for (const late of sent) await client.send(new TransactWriteItemsCommand(late));
  expect(await generationStore(fixture.table).get(licenseId, requestId)).toBe(null);
  expect(await periodStore(fixture.table).get(licenseId, periodStartMs)).toMatchObject({ committed: 2 });
});

test('the id of a request whose token is forgotten is taken all the same', async () => {
  const { documents, name: TableName } = fixture.table;
  const record = newRecord();
  await countInPeriod(fixture.table, record.licenseId, record.periodStartMs);
  await documents.send(new PutCommand({ TableName, Item: toItem(record) }));
  const twin = { ...record, prompt: 'another' };
  await expect(generationStore(fixture.table).reserve(twin, limits, 'h')).rejects.toMatchObject({
    ...busy,
    cause: expect.objectContaining({ message: 'the request id is taken' }),
  });
});
