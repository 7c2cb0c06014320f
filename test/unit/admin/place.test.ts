import { expect, test } from '@jest/globals';
import { choosePlace } from '../../../bin/common/connection.ts';

const aws = { TABLE_NAME: 'named' };
const named = { kind: 'table', tableName: 'named' };
const local = (folder: string) => ({ kind: 'local', folder });

test.each<[string, Parameters<typeof choosePlace>[0], NodeJS.ProcessEnv, object]>([
  ['a table that was named means AWS', { table: 't', data: 'f' }, aws, { kind: 'table', tableName: 't' }],
  ['and so does a stack', { stack: 's', data: 'f' }, aws, { kind: 'stack', stackName: 's' }],
  ['a data folder goes before the environment', { data: 'f' }, aws, local('f')],
  ['the environment goes before the local service', { region: 'eu-west-1' }, aws, named],
  [
    'with nothing said, the service in .local is meant',
    {},
    { TABLE_NAME: '', AWS_REGION: 'x' },
    local('.local'),
  ],
])('%s', (_, options, environment, place) => {
  expect(choosePlace(options, environment)).toEqual(place);
});

test('a region without a table never falls back to the local service', () => {
  expect(() => choosePlace({ region: 'eu-west-1' }, {})).toThrow('--region means AWS');
});
