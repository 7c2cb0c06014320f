import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { grantsOf, routes } from '../../../shared/routes/routes.ts';
import { jobs, type Job } from '../../../shared/routes/jobs.ts';
import type { Grants } from '../../../shared/routes/grants.ts';
import { keyLimitNames } from '../../../shared/routes/limits.ts';
import type { Route } from '../../../shared/routes/route.ts';

const table: [string, Route][] = Object.entries(routes);
const functionsFolder = new URL('../../../functions/', import.meta.url);
const accessOf = (route: Route) => grantsOf({ ...route, grants: {} }).table ?? {};

describe.each(table)('route %s', (_name, route) => {
  test('has its function in a file named verb-noun, with a verb that fits its method', () => {
    expect(route.functionName).toMatch(/^(answer|create|get|list|update|delete|revoke)(-[a-z]+)+$/);
    const verbs = {
      GET: ['get', 'list'],
      POST: ['answer', 'create'],
      PATCH: ['update'],
      DELETE: ['delete', 'revoke'],
    }[route.method];
    expect(verbs).toContain(route.functionName.split('-')[0]);
  });

  test('has a path that API Gateway can mount below the base address', () => {
    expect(route.path).toMatch(/^(\/[a-z0-9.]+|\/\{[a-zA-Z]+\})+$/);
  });

  test('may write objects, call the model or stream only if it creates something', () => {
    if (route.method !== 'GET') return;
    expect(route.grants).not.toHaveProperty('writeObjects');
    expect(route.grants).not.toHaveProperty('deleteObjects');
    expect(route.streams).toBe(false);
    if (route.path !== '/health') expect(route.grants).not.toHaveProperty('model');
  });

  test('may write the table exactly if it has a rate log to write or changes something', () => {
    const granted = Object.values(grantsOf(route).table ?? {}).flat();
    const writes = granted.some((action) => ['put', 'update', 'delete'].includes(action));
    expect(writes).toBe(route.limit !== undefined || route.method !== 'GET');
  });

  test('may read keys, and the license that they belong to, exactly if it takes keys', () => {
    const { keys = [], licenses = [], rateLogs = [] } = accessOf(route);
    const byKey = route.auth === 'key' || route.auth === 'key_or_session';
    expect(licenses.includes('get')).toBe(byKey);
    expect(keys.includes('get') || keys.includes('batchGet')).toBe(byKey);
    expect(rateLogs.includes('put')).toBe(route.limit !== undefined);
  });

  test('touches prefixes of the bucket only, never all of it', () => {
    const { readObjects = [], writeObjects = [], deleteObjects = [] } = route.grants;
    for (const prefix of [...readObjects, ...writeObjects, ...deleteObjects]) {
      expect(prefix).toMatch(/^[a-z]+\/\*$/);
    }
  });

  test('has a limit with a name that a header field may quote', () => {
    for (const limit of [route.limit, route.creationLimit])
      if (limit) expect(limit.name).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });

  test('needs a key or a session, unless anyone may know its answer', () => {
    if (route.auth === 'none') expect(['/health', '/openapi.json']).toContain(route.path);
  });
});

test('only a deletion deletes images; the others delete copies of references, which end with their request', () => {
  const deleting = [...Object.values(routes), ...Object.values(jobs)].flatMap(
    ({ functionName, grants }: Route | Job) =>
      grants.deleteObjects === undefined ? [] : [[functionName, grants.deleteObjects]],
  );
  expect(deleting).toEqual([
    ['create-generation', ['references/*']],
    ['delete-generation', ['generations/*', 'references/*']],
    ['answer-agent', ['references/*']],
    ['create-playground-generation', ['references/*']],
    ['sweep', ['generations/*', 'references/*']],
    ['run-generation', ['references/*']],
    ['release-generation', ['references/*']],
  ]);
});

describe('the table', () => {
  const functionNames = [...Object.values(routes), ...Object.values(jobs)].map((of) => of.functionName);
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

  test('tells every limit whose log shows when a key was last used', () => {
    const names = table.flatMap(([, { auth, limit }]) =>
      (auth === 'key' || auth === 'key_or_session') && limit ? [limit.name] : [],
    );
    expect(new Set(keyLimitNames)).toEqual(new Set(names));
  });

  test('leaves no file in functions/ without a route or a job', () => {
    const files = readdirSync(functionsFolder).filter((file) => file.endsWith('.ts'));
    expect(files.sort()).toEqual(functionNames.map((name) => `${name}.ts`).sort());
  });
});

test('section 8.2 and the decisions limit these routes, and only they refuse or go on when a limit fails', () => {
  const limits = Object.fromEntries(table.flatMap(([name, { limit }]) => (limit ? [[name, limit]] : [])));
  const perMinute = (name: string, quota: number, onFault: string) => ({
    name,
    quota,
    windowSeconds: 60,
    onFault,
  });
  expect(limits).toEqual({
    createGeneration: perMinute('generate', 10, 'refuse'),
    createPlaygroundGeneration: perMinute('playground', 10, 'refuse'),
    createUpload: perMinute('upload', 40, 'refuse'),
    answerAgent: perMinute('mcp', 60, 'allow'),
    createOpenAiImage: perMinute('generate', 10, 'refuse'),
    getOpenAiModel: perMinute('identities', 60, 'allow'),
    listOpenAiModels: perMinute('identities', 60, 'allow'),
    getGeneration: perMinute('fetch', 60, 'allow'),
    deleteGeneration: perMinute('delete', 60, 'allow'),
    listGenerations: perMinute('list', 60, 'allow'),
    listIdentities: perMinute('identities', 60, 'allow'),
    listKeys: perMinute('keys', 60, 'allow'),
    updateKey: perMinute('change-key', 30, 'allow'),
    getUsage: perMinute('usage', 30, 'allow'),
    getAccount: perMinute('account', 30, 'allow'),
    updateAccount: perMinute('change-account', 30, 'allow'),
    listActivity: perMinute('activity', 30, 'allow'),
    listRefusals: perMinute('refusals', 30, 'allow'),
  });
  const byKey = table.filter(([, { auth }]) => auth === 'key' || auth === 'key_or_session');
  expect(byKey.filter(([, { limit }]) => limit === undefined)).toEqual([]);
});

const functions = [
  ...Object.values(routes).map((route) => ({ ...route, grants: grantsOf(route) })),
  ...Object.values(jobs),
];

test('who may write what gives access writes who did it, and nobody else does; only the list of it reads it', () => {
  const audit = functions.flatMap(({ functionName, grants }: { functionName: string; grants: Grants }) =>
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
  const writers = functions.flatMap(({ functionName, grants }: { functionName: string; grants: Grants }) =>
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
