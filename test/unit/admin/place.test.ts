import { expect, test } from '@jest/globals';
import { choosePlace } from '../../../bin/common/connection.ts';

const awsEnvironment = { TABLE_NAME: 'from-environment' };

test.each<[string, Parameters<typeof choosePlace>[0], NodeJS.ProcessEnv, object]>([
  [
    'a table that was named means AWS',
    { table: 't', data: 'f' },
    awsEnvironment,
    { kind: 'table', tableName: 't' },
  ],
  ['and so does a stack', { stack: 's', data: 'f' }, awsEnvironment, { kind: 'stack', stackName: 's' }],
  [
    'a data folder goes before the environment',
    { data: 'f' },
    awsEnvironment,
    { kind: 'local', folder: 'f' },
  ],
  [
    'the environment goes before the local service',
    {},
    awsEnvironment,
    { kind: 'table', tableName: 'from-environment' },
  ],
  [
    'also with a region',
    { region: 'eu-west-1' },
    awsEnvironment,
    { kind: 'table', tableName: 'from-environment' },
  ],
  [
    'with nothing said, the local service in .local is meant',
    {},
    { TABLE_NAME: '', AWS_REGION: 'eu-west-1' },
    { kind: 'local', folder: '.local' },
  ],
])('%s', (_, options, environment, place) => {
  expect(choosePlace(options, environment)).toEqual(place);
});

test('a region without a table never falls back to the local service', () => {
  expect(() => choosePlace({ region: 'eu-west-1' }, {})).toThrow('--region means AWS');
});
