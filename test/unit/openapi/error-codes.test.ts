import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from '@jest/globals';
import { build, stop } from 'esbuild';
import type { ErrorCode } from '../../../shared/errors.ts';
import { firewallFailures, gatewayFailures } from '../../../shared/gateway-failures.ts';
import { codesOf } from '../../../shared/openapi/error-codes.ts';
import { operations, type OperationId } from '../../../shared/openapi/operations.ts';
import { parameters } from '../../../shared/openapi/parameters.ts';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import { routes, type Route } from '../../../shared/routes.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const table = Object.entries(routes) as [OperationId, Route][];

/** What is answered in a function's place, by the gateway and the firewall. */
const inFront = new Set<ErrorCode>(
  [...Object.values(gatewayFailures), ...Object.values(firewallFailures)].map(({ code }) => code),
);

/** Errors that functions carry with what they share, and whether the operation comes to where they are made. */
const reached = (operationId: OperationId): Partial<Record<ErrorCode, boolean>> => {
  const { auth, limit }: Route = routes[operationId];
  const readsBody = operations[operationId].body !== undefined;
  return {
    INVALID_API_KEY: auth === 'key' || auth === 'key_or_session',
    INVALID_SESSION: auth === 'session' || auth === 'key_or_session',
    RATE_LIMITED: limit !== undefined,
    INVALID_BODY: readsBody,
    PAYLOAD_TOO_LARGE: readsBody,
    // The model's adapter makes it for generations; health only asks whether the model is there.
    GENERATION_FAILED: readsBody,
  };
};

afterAll(stop);

/** The codes of the errors that are made in what a function is bundled of, without what its handler never calls. */
async function thrown({ functionName }: Route): Promise<ErrorCode[]> {
  const { outputFiles } = await build({
    entryPoints: [`functions/${functionName}.ts`],
    absWorkingDir: repository,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    treeShaking: true,
    write: false,
  });
  const made = outputFiles[0]!.text.matchAll(/new ServiceError\(\s*"([A-Z_]+)"/g);
  return [...new Set([...made].map(([, code]) => code as ErrorCode))];
}

describe.each(table)('%s', (operationId, route) => {
  const documented = codesOf(route, operations[operationId]);

  test('tells of each error that its function makes, and of no other but those that are made before it', async () => {
    const made = (await thrown(route)).filter((code) => reached(operationId)[code] ?? true);
    expect(made.length).toBeGreaterThan(1);
    expect(made.filter((code) => !documented.includes(code))).toEqual([]);
    expect(documented.filter((code) => !made.includes(code) && !inFront.has(code))).toEqual([]);
  });
});

test('every header that the service reads is told of', () => {
  const sources = ['shared/http', 'functions'].flatMap((folder) =>
    readdirSync(`${repository}/${folder}`).map((file) =>
      readFileSync(`${repository}/${folder}/${file}`, 'utf8'),
    ),
  );
  const read = /(?:singleHeader\(request, |headers\.get\()'([a-z-]+)'/g;
  const names = new Set(sources.flatMap((source) => [...source.matchAll(read)].map(([, name]) => name!)));
  const { description } = openApiDocument().info;
  const told: Record<string, boolean> = {
    // OpenAPI has no parameters for these three: they are the security schemes', the contents' and the browser's.
    authorization: Object.keys(openApiDocument().components.securitySchemes).length > 0,
    accept: openApiDocument().paths['/generate'].post.responses[200].description.includes(
      '`Accept: text/event-stream`',
    ),
    origin: description.includes('origins'),
    'content-encoding': description.includes('`Content-Encoding`'),
    [parameters.idempotencyKey.name.toLowerCase()]: true,
  };
  expect(Object.fromEntries([...names].map((name) => [name, told[name]]))).toEqual(
    Object.fromEntries(Object.keys(told).map((name) => [name, true])),
  );
});
