import { describe, expect, test } from '@jest/globals';
import { configuration } from '../../../lib/configuration.ts';
import { throttleOf } from '../../../lib/throttle.ts';
import { createGenerationBody } from '../../../shared/generations/contract.ts';
import { maxAddressesPerMinute } from '../../../shared/references/contract.ts';
import { referenceLimits } from '../../../shared/images/image-types.ts';
import { endedKeyDays } from '../../../shared/keys/api-key.ts';
import { maxActiveKeys, maxRecentKeys } from '../../../shared/keys/slots.ts';
import { maxBodyBytes, maxFormBytes, newKeyLimit } from '../../../shared/routes/limits.ts';
import { creditCost } from '../../../shared/licenses/credits.ts';
import { parseIdempotencyKey } from '../../../shared/generations/idempotency.ts';
import { tiers } from '../../../shared/licenses/tiers.ts';
import { uploadLifetimeSeconds } from '../../../shared/images/upload.ts';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import { firewallFailures, gatewayFailures } from '../../../shared/routes/gateway-failures.ts';
import { filterParameters } from '../../../shared/http/generation-filter.ts';
import { routes } from '../../../shared/routes/routes.ts';
import type { Route } from '../../../shared/routes/route.ts';
import { pages, readPage, tableBelow } from '../../support/documents.ts';

const page = 'docs/api/limits.md';
const text = readPage(page).replace(/\s+/g, ' ');
const allRoutes: Route[] = Object.values(routes);
const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const rowsBelow = (heading: string, of = page) => tableBelow(of, heading).slice(1);

const whose = { key: 'API key', session: 'account', key_or_session: 'API key or account', none: 'address' };

describe('requests a minute', () => {
  test('are those of the table of routes, as their headers show', () => {
    const expected = allRoutes.flatMap((route) => {
      if (!route.limit) return [];
      const { quota, name, windowSeconds } = route.limit;
      expect(windowSeconds).toBe(60);
      return [[nameOf(route), String(quota), whose[route.auth], name]];
    });
    expect(rowsBelow('Requests a minute').sort()).toEqual(expected.sort());
    const { name, quota } = routes.createGeneration.limit;
    expect(text).toContain(`RateLimit-Policy: "${name}";q=${quota};w=60 `);
  });

  test('of all callers together and of an address are what deployments have by default', () => {
    const { throttle, requestsPerAddress } = configuration.parse({});
    const [least, most] = [0, 1e6].map((executions) => throttleOf(throttle, executions).ratePerSecond);
    expect(text).toContain(`can answer, ${least} to ${most} a second;`);
    const own = allRoutes.flatMap((route) =>
      typeof route.throttle === 'object'
        ? `${route.throttle.ratePerSecond} a second, ${route.throttle.burst} at once, to \`${nameOf(route)}\``
        : [],
    );
    expect(text.match(/\d+ a second, \d+ at once, to `[^`]+`/g)).toEqual(own);
    expect(text).toContain(`One IP address may send ${requestsPerAddress} requests in five minutes`);
  });
});

test.each([page, 'docs/errors.md'])('%s shows who refused by the waits that each asks for', (path) => {
  const waits = [...readPage(path).matchAll(/`Retry-After:\s+(\d+)`/g)].map(([, seconds]) => Number(seconds));
  const { retryAfterSeconds: atGateway } = gatewayFailures.THROTTLED;
  const { retryAfterSeconds: ofAddress } = firewallFailures.tooManyFromOneAddress;
  const tooManyInFlight = 1;
  expect(waits).toEqual([atGateway, ofAddress, tooManyInFlight]);
});

test('docs/api/endpoints.md lists each endpoint, one that takes keys and sessions twice', () => {
  const rows = [...readPage('docs/api/endpoints.md').matchAll(/^\| `([A-Z]+ \/[^`]*)`/gm)];
  const expected = allRoutes.flatMap((route) =>
    route.auth === 'key_or_session' ? [nameOf(route), nameOf(route)] : [nameOf(route)],
  );
  expect(rows.map(([, endpoint]) => endpoint).sort()).toEqual(expected.sort());
});

test.each([
  ['Stored requests', [...filterParameters]],
  ['The body of POST /generate', Object.keys(createGenerationBody.shape)],
])('docs/api/endpoints.md describes each member of “%s”', (heading, names) => {
  const section = readPage('docs/api/endpoints.md')
    .split(/^## /m)
    .find((part) => part.startsWith(heading))!;
  const members = [...section.matchAll(/^\| ((?:`\w+`(?:, )?)+) +\|/gm)];
  const described = members.flatMap(([, shown]) => shown!.replaceAll('`', '').split(', '));
  expect(described.sort()).toEqual(names.sort());
});

test('the tiers are those of the code', () => {
  const expected = Object.values(tiers).map(
    ({ label, creditsPerMonth, maxOutputs, maxSidePx, maxInFlight }) =>
      [label, creditsPerMonth ?? 'agreed', maxOutputs, maxSidePx, maxInFlight].map(String),
  );
  expect(rowsBelow('Tiers')).toEqual(expected);
});

test('the ranges of a request are those of its contract', () => {
  const { properties, required } = openApiDocument().components.schemas.GenerationRequest;
  const range = (name: string): string => {
    const { minLength, maxLength, minimum, maximum, multipleOf, maxItems } = properties[name];
    // An optional member may be null, too.
    const [type] = [properties[name].type].flat();
    if (type === 'string') return `${minLength} to ${maxLength} characters`;
    if (type === 'array') return `0 to ${maxItems} images`;
    if (multipleOf) return `multiples of ${multipleOf} from ${minimum} to the tier's limit`;
    return maximum === undefined ? `from ${minimum} to the tier's limit` : `${minimum} to ${maximum}`;
  };
  const inWords: Record<string, string> = { '': 'empty', '[]': 'none' };
  const unset: Record<string, string> = { seed: 'random', identityVersion: 'the active one' };
  const byDefault = (name: string): string => {
    if (required.includes(name)) return 'required';
    const value: unknown = Object(createGenerationBody.parse({ identityId: '', prompt: 'x' }))[name];
    const shown = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return (value === undefined ? unset[name] : inWords[shown]) ?? shown;
  };
  const listed = rowsBelow('A request to generate');
  expect(listed).toEqual(listed.map(([name]) => [name, range(name!), byDefault(name!)]));
  const bounded = Object.entries<any>(properties)
    .filter(([, rules]) => rules.minimum !== undefined || rules.maxLength || rules.maxItems)
    .map(([name]) => name);
  expect(listed.map(([name]) => name)).toEqual(bounded);
});

test('the limits of reference images are those of the code', () => {
  const { maxItems, maxBytes, maxPixels, minSidePx, maxSidePx, maxUrlCharacters } = referenceLimits;
  const shown = Object.fromEntries(rowsBelow('Reference images') as [string, string][]);
  expect(shown).toMatchObject({
    'images a request': String(maxItems),
    'bytes of a file': `${maxBytes} (${maxBytes / 1024 ** 2} MiB)`,
    'pixels of an image': String(maxPixels),
    'pixels a side, at least': String(minSidePx),
    'pixels a side, at most': String(maxSidePx),
    'characters of a link': String(maxUrlCharacters),
    'links a minute, for a license': String(maxAddressesPerMinute),
    'minutes that an upload is usable': String(uploadLifetimeSeconds / 60),
  });
  // These two are constants of the modules that fetch.
  const source = readPage('shared/references/read-references.ts') + readPage('shared/references/fetcher.ts');
  expect(source).toContain(`fetchWithinMs = ${Number(shown["seconds to fetch all of a request's"]) * 1000};`);
  expect(source).toContain(`maxRedirects = ${shown['redirects of a link']};`);
});

test('everything else is what the code has, and one more is refused', () => {
  const shown = Object.fromEntries(
    rowsBelow('Everything else').map(([what, limit]) => [what, Number(limit)]),
  );
  const { asyncDeadlineSeconds, generationDeadlineSeconds } = configuration.parse({});
  const { schemas, parameters } = openApiDocument().components;
  const idempotencyKeyCharacters = 255;
  expect(shown).toEqual({
    'bytes of a body': maxBodyBytes,
    'bytes of a body with files': maxFormBytes,
    'seconds until an image is finished': generationDeadlineSeconds,
    'seconds, for an asynchronous request': asyncDeadlineSeconds,
    'characters of an Idempotency-Key': idempotencyKeyCharacters,
    'requests on a page of GET /generate': parameters.limitParameter.schema.maximum,
    'active keys of a license': maxActiveKeys,
    'keys active or ended in the last minute': maxRecentKeys,
    'new keys of an account in 24 hours': newKeyLimit.quota,
    'keys on a page of GET /keys': parameters.limitParameter.schema.maximum,
    'days that an ended key is listed': endedKeyDays,
    "characters of a key's name": schemas.CreateKeyRequest.properties.name.maxLength,
  });
  for (const more of [0, 1]) {
    const key = 'k'.repeat(idempotencyKeyCharacters + more);
    expect(parseIdempotencyKey(key) !== null).toBe(more === 0);
  }
});

test('the operator may choose a deadline in the range that is shown', () => {
  const [, least, most] = /the operator may choose (\d+) to (\d+)/.exec(text)!.map(Number);
  const allowed = (seconds: number) =>
    configuration.safeParse({ generationDeadlineSeconds: seconds }).success;
  expect([least! - 1, least!, most!, most! + 1].map(allowed)).toEqual([false, true, true, false]);
});

test('credits: each price in the table is what the service charges', () => {
  const [header, ...rows] = tableBelow('docs/api/credits.md', 'Credits');
  expect(rows.length).toBeGreaterThanOrEqual(5);
  for (const [size, ...prices] of rows) {
    const [width, height] = size!.split(' × ').map(Number) as [number, number];
    // Sizes that a request may have.
    const body = { identityId: 'i', prompt: 'x', width, height };
    expect(createGenerationBody.safeParse(body).success).toBe(true);
    const costs = header!
      .slice(1)
      .map((column) => creditCost({ width, height, numOutputs: parseInt(column) }));
    expect([size, ...prices]).toEqual([size, ...costs.map(String)]);
  }
});

test('docs/api/images.md says how long links open and images are kept', () => {
  const images = readPage('docs/api/images.md').replace(/\s+/g, ' ');
  const linkSeconds = /linkLifetimeSeconds = (\d+);/.exec(readPage('shared/images/object-store.ts'))![1];
  expect(images).toContain(`**for ${Number(linkSeconds) / 60} minutes at most**`);
  const { retentionDays } = configuration.parse({});
  expect(images).toContain(`as many days as the operator set; ${retentionDays} unless changed`);
});

/** Not those of promises, which name tests by their titles, and of measurements. */
const factPages = pages().filter(
  (path) =>
    /^(README|docs\/(api\/)?[\w-]+)\.md$/.test(path) && !/\/(costs|guarantees|performance)\.md$/.test(path),
);

const retries = 'docs/api/retries.md';
const hours = /repeat within \d+ hours|for (its )?24 hours/;

test.each([
  ['how long an idempotency key is kept', hours, [retries]],
  ['how long requests are kept', /\d+ unless changed|\b90 days\b/, ['docs/api/images.md']],
  ['how long a link opens', /for \d+ minutes at most|for an hour at most/, ['docs/api/images.md']],
  ['how many keys a license has', /\| active keys|\b25 (active )?keys\b/, [page]],
  ['how large a preview is', /\b60 kB\b/, ['docs/api/images.md']],
  ['how large a body may be', /\b1048576\b|\b1 MiB\b/, [page]],
])('%s stands on one page, which the others link to', (_, fact, owners) => {
  const stating = factPages.filter((path) => fact.test(readPage(path).replace(/\s+/g, ' ')));
  expect(stating).toEqual(owners);
});
