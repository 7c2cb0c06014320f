import { afterAll, beforeAll, test } from '@jest/globals';
import { survivesKills } from '../engine/local/dynamodb/crash.ts';
import { agreesWithModel } from '../engine/local/dynamodb/properties.ts';
import { openEndpoint, type Endpoint } from '../engine/local/dynamodb/support.ts';

let endpoint: Endpoint;
beforeAll(async () => void (endpoint = await openEndpoint()));
afterAll(() => endpoint.close());

test('500 sequences of writes and transactions do what a simple model does', async () => {
  await agreesWithModel(endpoint, 500);
}, 600_000);

test('20 kills leave each transaction whole or absent, and each that was answered is there', async () => {
  await survivesKills(20);
}, 600_000);
