import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { failureOf, openEndpoint } from './support/endpoint.ts';
import type { Endpoint } from './support/endpoint.ts';

let endpoint: Endpoint;
let TableName: string;
let taken = 0;
beforeAll(async () => {
  endpoint = await openEndpoint();
  TableName = await endpoint.createTable();
});
beforeEach(() => {
  taken += 1;
});
afterAll(() => endpoint.close());

/** JavaScript's numbers are too short for these tests: the API's own strings are used. */
const Key = () => ({ pk: { S: 'p' }, sk: { S: `item-${taken}` } });
const put = (n: string) => endpoint.client.putItem({ TableName, Item: { ...Key(), n: { N: n } } });
const update = (UpdateExpression: string, v: string) => ({
  TableName,
  Key: Key(),
  UpdateExpression,
  ExpressionAttributeValues: { ':v': { N: v } },
});
const stored = async () =>
  (await endpoint.client.getItem({ TableName, Key: Key(), ConsistentRead: true })).Item?.['n']?.N;

const digits = '12345678901234567890123456789012345678';
const nines = '9'.repeat(38);
/** Of a sum with too many digits, AWS was seen to say that it overflows. */
const tooMuch =
  /Number overflow\. Attempting to store a number with magnitude larger|more than 38 significant digits/;

describe('a number', () => {
  test.each([
    ['of 38 digits is kept to the last one', digits, digits],
    ['of 38 digits after the point is kept too', `0.${digits}`, `0.${digits}`],
    ['loses its needless zeros', '0012.500', '12.5'],
    ['is written without an exponent', '1.5E+3', '1500'],
    ['of the largest magnitude is kept', `9.${'9'.repeat(37)}E+125`, nines + '0'.repeat(88)],
    ['of the smallest magnitude is kept', '-1E-130', `-0.${'0'.repeat(129)}1`],
  ])('%s', async (_what, given, kept) => {
    await put(given);
    expect(await stored()).toBe(kept);
  });

  test.each([
    ['of 39 digits', `${digits}9`, /Attempting to store more than 38 significant digits in a Number$/],
    ['that is too large', '1E+126', /Number overflow\. Attempting to store a number with magnitude larger/],
    ['that is too small', '1E-131', /Number underflow\. Attempting to store a number with magnitude smaller/],
    ['that is none', '1x', /cannot be converted to a numeric value: 1x$/],
    ['that is not finite', 'Infinity', /cannot be converted to a numeric value: Infinity$/],
  ])('%s is refused', async (_what, given, message) => {
    const failure = await failureOf(put(given));
    expect(failure.name).toBe('ValidationException');
    expect(failure.message).toMatch(message);
  });
});

describe('a sum', () => {
  test.each([
    ['is exact in 38 digits', digits, 'ADD n :v', '1', '12345678901234567890123456789012345679'],
    ['is exact where binary fractions are not', '0.1', 'ADD n :v', '0.2', '0.3'],
    ['may have more digits if they are zeros', nines, 'ADD n :v', '1', `1${'0'.repeat(38)}`],
    ['may be the largest number', '9E+125', 'SET n = n + :v', '9E+124', `99${'0'.repeat(124)}`],
    ['begins at zero where there is no item', null, 'ADD n :v', '-2.5', '-2.5'],
    ['of opposite numbers is zero', nines, 'SET n = n - :v', nines, '0'],
  ])('%s', async (_what, before, expression, v, after) => {
    if (before !== null) await put(before);
    await endpoint.client.updateItem(update(expression, v));
    expect(await stored()).toBe(after);
  });

  test.each([
    ['has more than 38 digits', nines, 'ADD n :v', '2'],
    ['has more than 38 digits after a subtraction', '1E+50', 'SET n = n - :v', '1'],
    ['has digits too far apart', '1E+37', 'SET n = n + :v', '0.1'],
    ['is too large', '9E+125', 'ADD n :v', '9E+125'],
  ])('that %s is refused, and nothing is changed', async (_what, before, expression, v) => {
    await put(before);
    const kept = await stored();
    const failure = await failureOf(endpoint.client.updateItem(update(expression, v)));
    expect(failure.name).toBe('ValidationException');
    expect(failure.message).toMatch(tooMuch);
    expect(await stored()).toBe(kept);
  });

  test('that is too small is refused', async () => {
    await put('1.1E-130');
    const failure = await failureOf(endpoint.client.updateItem(update('SET n = n - :v', '1E-130')));
    expect(failure.message).toMatch(
      /^Number underflow\. Attempting to store a number with magnitude smaller/,
    );
  });

  test('below a map is refused as well', async () => {
    const Item = { ...Key(), m: { M: { l: { L: [{ N: nines }] } } } };
    await endpoint.client.putItem({ TableName, Item });
    const failure = await failureOf(endpoint.client.updateItem(update('ADD m.l[0] :v', '0.5')));
    expect(failure.message).toMatch(tooMuch);
  });

  test('that is refused cancels its transaction', async () => {
    await put(nines);
    const other = { ...Key(), sk: { S: `other-${taken}` } };
    const TransactItems = [{ Put: { TableName, Item: other } }, { Update: update('ADD n :v', '2') }];
    const failure = await failureOf(endpoint.client.transactWriteItems({ TransactItems }));
    expect(failure.CancellationReasons?.map(({ Code }) => Code)).toEqual(['None', 'ValidationError']);
    expect((await endpoint.client.getItem({ TableName, Key: other })).Item).toBeUndefined();
  });
});

describe('ADD', () => {
  const add = (value: object, path = 'n') => ({
    ...update(`ADD ${path} :v`, '0'),
    ExpressionAttributeValues: { ':v': value as never },
  });
  const attributes = async () =>
    (await endpoint.client.getItem({ TableName, Key: Key(), ConsistentRead: true })).Item;

  test('makes an attribute, and the item, that are not there', async () => {
    await endpoint.client.updateItem(add({ N: '5' }));
    expect(await attributes()).toEqual({ ...Key(), n: { N: '5' } });
  });

  test('makes a set that is not there', async () => {
    await endpoint.client.updateItem(add({ NS: ['1', '2'] }));
    expect((await attributes())?.['n']?.NS?.toSorted()).toEqual(['1', '2']);
  });

  test.each([
    ['text', { S: 'x' }, { N: '1' }],
    ['another kind of set', { SS: ['x'] }, { NS: ['1'] }],
  ])('to %s is refused', async (_what, before, value) => {
    const Item = { ...Key(), n: before as never };
    await endpoint.client.putItem({ TableName, Item });
    const failure = await failureOf(endpoint.client.updateItem(add(value)));
    expect(failure.message).toBe('An operand in the update expression has an incorrect data type');
    expect(await attributes()).toEqual(Item);
  });

  test('of text is refused', async () => {
    const failure = await failureOf(endpoint.client.updateItem(add({ S: 'x' })));
    expect(failure.message).toMatch(
      /Incorrect operand type for operator or function; operator: ADD, operand type: STRING/,
    );
  });

  test('below a map that is not there is refused', async () => {
    const failure = await failureOf(endpoint.client.updateItem(add({ N: '1' }, 'm.n')));
    expect(failure.message).toMatch(/document path provided in the update expression is invalid/);
    expect(await attributes()).toBeUndefined();
  });
});
