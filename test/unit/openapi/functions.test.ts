import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, describe, expect, test } from '@jest/globals';
import { build, stop } from 'esbuild';
import type { ErrorCode } from '../../../shared/base/errors.ts';
import { firewallFailures, gatewayFailures } from '../../../shared/routes/gateway-failures.ts';
import { documentedRoutes, openApiDocument } from '../../../shared/openapi/document.ts';
import { codesOf } from '../../../shared/openapi/error-codes.ts';
import { operations, type OperationId } from '../../../shared/openapi/operations.ts';
import { parameters } from '../../../shared/openapi/parameters.ts';
import { routes } from '../../../shared/routes/routes.ts';
import { jobs } from '../../../shared/routes/jobs.ts';
import type { Route } from '../../../shared/routes/route.ts';
import { repository } from '../../support/repository.ts';

const table = documentedRoutes;

afterAll(stop);

/** A function with all of our code that it carries, without what its handler never calls. */
async function bundled(functionName: string): Promise<{ text: string; paths: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [`functions/${functionName}.ts`],
    absWorkingDir: repository,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    treeShaking: true,
    metafile: true,
    write: false,
  });
  return { text: outputFiles[0]!.text, paths: Object.keys(metafile.inputs) };
}

/** The codes that the gateway and the firewall answer in a function's place. */
const inFront = new Set<ErrorCode>(
  [...Object.values(gatewayFailures), ...Object.values(firewallFailures)].map(({ code }) => code),
);

/** Codes in code that functions share, and whether the operation reaches that code. */
function reached(operationId: OperationId): Partial<Record<ErrorCode, boolean>> {
  const { auth, limit }: Route = routes[operationId];
  const readsBody = operations[operationId].body !== undefined;
  return {
    INVALID_API_KEY: auth === 'key' || auth === 'key_or_session',
    INVALID_SESSION: auth === 'session' || auth === 'key_or_session',
    RATE_LIMITED: limit !== undefined,
    INVALID_BODY: readsBody,
    PAYLOAD_TOO_LARGE: readsBody,
    // The model's adapter throws it for generations; health only asks whether the model is there.
    GENERATION_FAILED: readsBody,
  };
}

const isOfDocument = (path: string) =>
  path.startsWith('shared/openapi/') || path === 'shared/base/answer-fields.ts';

describe.each(table)('%s', (operationId, route) => {
  test('documents the errors that its function throws, and no others but those of gateway and firewall', async () => {
    const { text, paths } = await bundled(route.functionName);
    const found = [...text.matchAll(/new ServiceError\(\s*"([A-Z_]+)"/g)].map(
      ([, code]) => code as ErrorCode,
    );
    const thrown = [...new Set(found)].filter((code) => reached(operationId)[code] ?? true);
    const documented = codesOf(route, operations[operationId]);
    expect(thrown.length).toBeGreaterThan(1);
    expect(thrown.filter((code) => !documented.includes(code))).toEqual([]);
    expect(documented.filter((code) => !thrown.includes(code) && !inFront.has(code))).toEqual([]);

    if (operationId !== 'getOpenApi') return;
    expect(paths.filter(isOfDocument).length).toBeGreaterThan(5);
    expect(paths.filter((path) => /^shared\/generations\/(?!.*contract)/.test(path))).toEqual([]);
  });
});

test('a function carries no route but its own, and nothing of the document; only the one of the document has all', async () => {
  const functionNames = [...Object.values(routes), ...Object.values(jobs)].map((one) => one.functionName);
  for (const functionName of functionNames.filter((name) => name !== routes.getOpenApi.functionName)) {
    const { text, paths } = await bundled(functionName);
    const carried = [...text.matchAll(/\bfunctionName: "([a-z-]+)"/g)].map(([, name]) => name);
    expect([functionName, carried.filter((name) => name !== functionName)]).toEqual([functionName, []]);
    // The one for agents makes the schemas of tools of them.
    if (functionName === routes.answerAgent.functionName) continue;
    expect([functionName, paths.filter(isOfDocument)]).toEqual([functionName, []]);
  }
});

test('the document names every header that the service reads', () => {
  const sources = ['shared/http', 'functions'].flatMap((folder) =>
    readdirSync(`${repository}/${folder}`).map((file) =>
      readFileSync(`${repository}/${folder}/${file}`, 'utf8'),
    ),
  );
  const reading = /(?:singleHeader\(request, |headers\.get\()'([a-z-]+)'/g;
  const read = new Set(sources.flatMap((source) => [...source.matchAll(reading)].map(([, name]) => name!)));
  const { info, components } = openApiDocument();
  const named: Record<string, boolean> = {
    // OpenAPI has no parameters for the first three: security schemes, contents and web pages stand for them. And every
    // operation takes the last.
    authorization: Object.keys(components.securitySchemes).length > 0,
    accept: components.responses.GenerationAnswer.description.includes('`Accept: text/event-stream`'),
    // OpenAI's document describes forms.
    'content-type': true,
    origin: info.description.includes('origins'),
    'content-encoding': info.description.includes('`Content-Encoding`'),
    [parameters.idempotencyKey.name.toLowerCase()]: true,
    [parameters.prefer.name.toLowerCase()]: true,
    [parameters.ifNoneMatch.name.toLowerCase()]: true,
    traceparent: info.description.includes('`traceparent`'),
  };
  expect([...read].sort()).toEqual(Object.keys(named).sort());
  expect(Object.values(named)).not.toContain(false);
});
