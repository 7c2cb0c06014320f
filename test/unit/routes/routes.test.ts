import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { grantsOf, routes } from '../../../shared/routes/routes.ts';
import { jobs } from '../../../shared/routes/jobs.ts';
import type { Grants } from '../../../shared/routes/grants.ts';
import { keyLimitNames } from '../../../shared/routes/limits.ts';
import type { Route } from '../../../shared/routes/route.ts';

const table: [string, Route][] = Object.entries(routes);
const functionsFolder = new URL('../../../functions/', import.meta.url);
const functions: { functionName: string; grants: Grants }[] = [
  ...Object.values(routes).map((route) => ({ ...route, grants: grantsOf(route) })),
  ...Object.values(jobs),
];

test.each(table)('route %s has grants and a limit that fit what it does', (_name, route) => {
  const { readObjects = [], writeObjects = [], deleteObjects = [] } = route.grants;
  // Never all of the bucket.
  for (const prefix of [...readObjects, ...writeObjects, ...deleteObjects])
    expect(prefix).toMatch(/^[a-z]+\/\*$/);
  // A header field quotes the limit's name.
  for (const limit of [route.limit, route.creationLimit])
    if (limit) expect(limit.name).toMatch(/^[a-z]+(-[a-z]+)*$/);
  if (route.auth === 'none') expect(['/health', '/openapi.json']).toContain(route.path);
});

test('only a deletion deletes images; the others delete copies of references, which end with their request', () => {
  const deleting = functions.flatMap(({ functionName, grants }) =>
    grants.deleteObjects === undefined ? [] : [[functionName, grants.deleteObjects]],
  );
  expect(deleting).toEqual([
    ['create-generation', ['references/*']],
    ['delete-generation', ['generations/*', 'references/*']],
    ['cancel-generation', ['references/*']],
    ['answer-agent', ['references/*']],
    ['create-playground-generation', ['references/*']],
    ['edit-openai-image', ['references/*']],
    ['sweep', ['generations/*', 'references/*']],
    ['run-generation', ['references/*']],
    ['release-generation', ['references/*']],
  ]);
});

describe('the table', () => {
  const functionNames = functions.map(({ functionName }) => functionName);
  const unique = (values: string[]) => expect(new Set(values).size).toBe(values.length);

  test('mounts each method and path once, and has a function of its own for each route and job', () => {
    unique(table.map(([, { method, path }]) => `${method} ${path}`));
    unique(functionNames);
  });

  test('has no two limits of one name, which would share a log with different quotas', () => {
    const limits = table.flatMap(([, { limit, creationLimit }]) => [limit ?? [], creationLimit ?? []].flat());
    for (const limit of limits) {
      const namesakes = limits.filter(({ name }) => name === limit.name);
      expect(namesakes.every((other) => JSON.stringify(other) === JSON.stringify(limit))).toBe(true);
    }
  });

  test('lists every limit whose log shows when a key was last used', () => {
    const names = table.flatMap(([, { auth, limit }]) =>
      auth.startsWith('key') && limit ? [limit.name] : [],
    );
    expect(new Set(keyLimitNames)).toEqual(new Set(names));
  });

  test('leaves no file in functions/ without a route or a job', () => {
    const files = readdirSync(functionsFolder).filter((file) => file.endsWith('.ts'));
    expect(files.sort()).toEqual(functionNames.map((name) => `${name}.ts`).sort());
  });
});

test('these routes have limits, and only those that cost much refuse when a limit itself fails', () => {
  const limits = table.flatMap(([route, { limit }]) => {
    if (limit) expect(limit.windowSeconds).toBe(60);
    return limit ? [`${route}: ${limit.name} ${limit.quota} ${limit.onFault}`] : [];
  });
  expect(limits.toSorted()).toEqual([
    'answerAgent: mcp 60 allow',
    'cancelGeneration: cancel 60 allow',
    'createGeneration: generate 10 refuse',
    'createOpenAiImage: generate 10 refuse',
    'createPlaygroundGeneration: playground 10 refuse',
    'createUpload: upload 40 refuse',
    'deleteGeneration: delete 60 allow',
    'editOpenAiImage: generate 10 refuse',
    'getAccount: account 30 allow',
    'getGeneration: fetch 60 allow',
    'getIdentity: identities 60 allow',
    'getKey: key 60 allow',
    'getOpenAiModel: identities 60 allow',
    'getUsage: usage 30 allow',
    'listActivity: activity 30 allow',
    'listGenerations: list 60 allow',
    'listIdentities: identities 60 allow',
    'listKeys: keys 60 allow',
    'listOpenAiModels: identities 60 allow',
    'listRefusals: refusals 30 allow',
    'listRefusedRequests: refused 30 allow',
    'updateAccount: change-account 30 allow',
    'updateKey: change-key 30 allow',
  ]);
  expect(table.filter(([, { auth, limit }]) => auth.startsWith('key') && !limit)).toEqual([]);
});

test('who may write what gives access writes who did it, and nobody else does; only the list of it reads it', () => {
  const audit = functions.flatMap(({ functionName, grants }) =>
    (grants.table?.audit ?? []).map((action) => `${functionName}: ${action}`),
  );
  expect(audit).toEqual([
    'list-activity: query',
    'create-key: put',
    'update-key: put',
    'revoke-key: put',
    'billing-events: put',
  ]);
});

test('only these functions may write what gives access, so that no other, once taken over, can give it', () => {
  const giving = ['keys', 'licenses', 'catalog'] as const;
  const writers = functions.flatMap(({ functionName, grants }) =>
    giving.flatMap((partition) =>
      (grants.table?.[partition] ?? [])
        .filter((action) => ['put', 'update', 'delete'].includes(action))
        .map((action) => `${functionName}: ${action} ${partition}`),
    ),
  );
  expect(writers).toEqual([
    'create-key: put keys',
    'update-key: update keys',
    'revoke-key: update keys',
    'billing-events: put licenses',
    'billing-events: update licenses',
  ]);
});
