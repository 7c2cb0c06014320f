import { expect, test } from '@jest/globals';
import { choosePlace } from '../../../bin/common/connection.ts';

const awsEnvironment = { TABLE_NAME: 'from-environment' };

test('a table or a stack that was named means AWS, whatever else is set', () => {
  const table = { kind: 'table', tableName: 'named' };
  expect(choosePlace({ table: 'named', data: 'folder' }, awsEnvironment)).toEqual(table);
  const stack = { kind: 'stack', stackName: 'named' };
  expect(choosePlace({ stack: 'named', data: 'folder' }, awsEnvironment)).toEqual(stack);
});

test('a data folder that was named goes before the environment', () => {
  const local = { kind: 'local', folder: 'folder' };
  expect(choosePlace({ data: 'folder' }, awsEnvironment)).toEqual(local);
});

test('the environment goes before the local service', () => {
  const table = { kind: 'table', tableName: 'from-environment' };
  expect(choosePlace({}, awsEnvironment)).toEqual(table);
  expect(choosePlace({ region: 'eu-west-1' }, awsEnvironment)).toEqual(table);
});

test('with nothing said, the local service in .local is meant', () => {
  const local = { kind: 'local', folder: '.local' };
  expect(choosePlace({}, {})).toEqual(local);
  expect(choosePlace({}, { TABLE_NAME: '', AWS_REGION: 'eu-west-1' })).toEqual(local);
});

test('a region without a table never falls back to the local service', () => {
  expect(() => choosePlace({ region: 'eu-west-1' }, {})).toThrow('--region means AWS');
});
