import { writeFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type Stripe from 'stripe';
import { useScriptedServer, type ScriptedAnswer } from '../../support/scripted-server.ts';
import { envelope } from '../../unit/billing/delivery.ts';
import {
  day,
  eventsOf,
  extraLine,
  invoice,
  item,
  itemList,
  line,
  linesOf,
  newId,
  newSubscriptionId,
  parentOf,
  pricing,
  start,
  stripeEvent,
  subscription,
} from '../../unit/billing/stripe-fixtures.ts';
import { useBilling, useFunction } from './fixture.ts';

const key = 'rk_test_51ReadsInvoicesOnly';
const secretArn = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:stripe-AbC123';
const billing = useBilling();
const { pricesFile, lines: logged, send: sendMessages } = useFunction(() => billing.table.name);
/** Stripe, and below `/secrets` Secrets Manager. */
const server = useScriptedServer();
/** What Stripe has, by the list's path and its first parameter. */
const lists = new Map<string, { id: string }[]>();
let secret: ScriptedAnswer;
/** What Stripe answers instead. */
let fault: ScriptedAnswer | null | undefined;

beforeAll(() => {
  const seats = { price_pro: { tier: 'pro' }, price_seat: { creditsPerMonth: 500 } };
  writeFileSync(pricesFile, JSON.stringify(seats));
  Object.assign(process.env, {
    STRIPE_KEY_SECRET_ARN: secretArn,
    STRIPE_API_URL: server.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: `${server.url}/secrets`,
  });
});

beforeEach(() => {
  secret = { body: JSON.stringify({ SecretString: `${key}\n` }) };
  fault = undefined;
  server.answer = (path) => {
    if (path === '/secrets') return secret;
    if (fault !== undefined) return fault;
    const { pathname, searchParams } = new URL(path, server.url);
    const all = lists.get(searchParams.get('subscription') ?? pathname);
    if (all === undefined) return { status: 404, body: '{}' };
    const from = all.findIndex(({ id }) => id === searchParams.get('starting_after')) + 1;
    const to = from + Math.min(9, Number(searchParams.get('limit')));
    return { body: JSON.stringify({ object: 'list', data: all.slice(from, to), has_more: to < all.length }) };
  };
});

/** @returns how many failed */
const send = async (...events: object[]) => (await sendMessages(...events.map(envelope))).failed.length;
const asked = () => server.requests.map(({ path }) => path);
const lastLine = () => JSON.parse(logged.at(-1)!);

/** Shows the first entries; Stripe's API has all. */
function cut<T extends { id: string }>(all: T[], shown: number, at: string) {
  lists.set(at, all);
  return { ...linesOf(), data: all.slice(0, shown), has_more: shown < all.length } as any;
}

const [t1, t2] = [start + 30 * day, start + 61 * day];
const seats = (count: number, end: number) =>
  itemList([item('price_pro', end, 1), item('price_seat', end, count)]);
const seatLine = (quantity: number, amount: number, from: number, until: number) => ({
  ...line(until, { amount, quantity, period: { start: from, end: until } }),
  pricing: pricing('price_seat'),
});
const part = (quantity: number, amount: number, from: number) => ({
  ...seatLine(quantity, amount, from, t1),
  parent: extraLine(t1, amount, true).parent,
});

/** Eleven changes within a month, billed by the next month's invoice. @returns its events, and the license's id */
function story(shown: number, planFirst: boolean) {
  const id = newSubscriptionId();
  const { created, updated } = eventsOf(id);
  const plan = (count: number, from: number, end: number) => [
    seatLine(count, 1000 * count, from, end),
    line(end, { period: { start: from, end } }),
  ];
  const paid = (at: number, changes: Partial<Stripe.Invoice>) =>
    stripeEvent('invoice.paid', invoice({ parent: parentOf(id), ...changes }), { created: at });
  const events: object[] = [
    created(start, { items: seats(2, t1) }),
    paid(start + 5, { lines: linesOf(...plan(2, start, t1)) }),
  ];
  const parts: Stripe.InvoiceLineItem[] = [];
  for (let i = 0; i < 11; i++) {
    const at = start + (3 + i) * day;
    events.push(updated(at, { items: seats(3 + i, t1) }, { items: seats(2 + i, t1) }));
    parts.unshift(part(3 + i, 700, at), part(2 + i, -600, at));
  }
  events.push(updated(t1 + 2, { items: seats(13, t2) }, { items: seats(13, t1) }));
  const all = planFirst ? [...plan(13, t1, t2), ...parts] : [...parts, ...plan(13, t1, t2)];
  const invoiceId = newId('in');
  events.push(paid(t1 + 3600, { id: invoiceId, lines: cut(all, shown, `/v1/invoices/${invoiceId}/lines`) }));
  return { events, licenseId: `lic_${id}`, invoiceId };
}

async function licenseAfter(events: object[], licenseId: string) {
  for (const event of events) expect(await send(event)).toBe(0);
  const { license, registers } = await billing.subscriptions.get(licenseId);
  const moments = registers.moments.map((moment) => ({ ...moment, eventId: null }));
  return { ...license!, licenseId: null, moments };
}

describe('an invoice of which the event shows only the first lines', () => {
  test.each([
    ['ten, the plan last', 10, false],
    ['ten, the plan first', 10, true],
    ['none', 0, true],
  ])('counts as the whole: %s', async (_what, shown, planFirst) => {
    const whole = story(24, false);
    const some = story(shown, planFirst);
    const expected = await licenseAfter(whole.events, whole.licenseId);
    expect(asked()).toEqual([]);
    expect(expected).toMatchObject({ status: 'active', creditsLimit: 4000 + 13 * 500 });
    expect(await licenseAfter(some.events, some.licenseId)).toEqual(expected);
    const path = `/v1/invoices/${some.invoiceId}/lines?limit=100`;
    expect(asked().slice(0, 2)).toEqual(['/secrets', path]);
    expect(asked()).toHaveLength(4);
    const [, first] = server.requests;
    expect(first!.headers).toMatchObject({
      authorization: `Bearer ${key}`,
      'stripe-version': '2026-10-28.endive',
    });
    expect(logged.join('\n')).not.toContain(key);
  });

  test('is not fetched where nothing of it is needed', async () => {
    const shown = story(10, true).events.at(-1) as ReturnType<ReturnType<typeof eventsOf>['paid']>;
    const { object } = shown.data;
    const strangers = { ...shown, data: { object: { ...object, parent: null } } };
    expect(await send(strangers, { ...shown, type: 'invoice.sent' })).toBe(0);
    expect(asked()).toEqual([]);
  });
});

describe('a subscription of which the event shows only the first items', () => {
  const many = (quantity: number) => [
    item('price_pro', t1, 1),
    ...Array.from({ length: 13 }, () => item('price_seat', t1, quantity)),
  ];

  test.each([
    ['from its first event on', 0],
    ['from a later event on', 1],
  ])('counts as the whole %s, whatever was added or changed since, and before as it was', async (_, from) => {
    const id = newSubscriptionId();
    const [before, after] = [many(1), many(1)];
    after.forEach((one, i) => Object.assign(one, { id: before[i]!.id }));
    after.push({ ...item('price_seat', t1, 7), created: start + day - 1 });
    const since = [
      { ...before[3]!, quantity: 50 },
      ...after.toReversed().filter((one) => one.id !== before[3]!.id),
      { ...item('price_seat', t1, 90), created: start + 2 * day },
    ];
    const shown = (items: Stripe.SubscriptionItem[]) => cut(items, 10, 'none');
    const [wholeId, cutId] = [newSubscriptionId(), id];
    const eventsFor = (of: string, list: (items: Stripe.SubscriptionItem[]) => any) => [
      stripeEvent('customer.subscription.created', subscription({ id: of, items: list(before) })),
      stripeEvent('customer.subscription.updated', subscription({ id: of, items: list(after) }), {
        created: start + day,
        // Stripe says what changed alone: not whether it shows all.
        previous: { items: { data: list(before).data } as any },
      }),
      stripeEvent('invoice.paid', invoice({ parent: parentOf(of) }), { created: start + day + 1 }),
    ];
    lists.set(cutId, since);
    const license = await licenseAfter(eventsFor(wholeId, itemList).slice(from), `lic_${wholeId}`);
    expect(await licenseAfter(eventsFor(cutId, shown).slice(from), `lic_${cutId}`)).toEqual(license);
    expect(asked()).toContain(`/v1/subscription_items?subscription=${cutId}&limit=100`);
  });
});

describe('a list that could not be fetched fails the event, and its line says why, without the key:', () => {
  const page = { object: 'list', data: [{ id: 'il_1' }], has_more: true };
  test.each([
    ['a key that is refused', { status: 401, body: `{"error":{"message":"No: ${key}"}}` }, 'status 401'],
    ['a fault', { status: 503 }, 'status 503'],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, 'status 302'],
    ['no JSON', { body: `<p>${key}` }, 'without a list'],
    ['something else', { body: '{"data":{}}' }, 'without a list'],
    ['a list without end', { body: JSON.stringify(page) }, 'more than 10 pages'],
    ['silence', null, 'could not be reached (TimeoutError)'],
  ])('%s', async (_what, answer, why) => {
    const { events, invoiceId, licenseId } = story(10, false);
    expect(await send(...events.slice(0, -1))).toBe(0);
    fault = answer;
    expect(await send(events.at(-1)!)).toBe(1);
    expect(lastLine()).toMatchObject({ level: 'error', outcome: 'failed', reason: 'not_fetched' });
    expect(lastLine().sentence).toMatch(
      `The lines of invoice ${invoiceId} of ${licenseId.slice(4)} could not be fetched: Stripe`,
    );
    expect(lastLine().sentence).toContain(why);
    expect(asked()).not.toContain('/elsewhere');
    expect(logged.join('\n')).not.toContain(key);
    // Delivered again, it counts.
    fault = undefined;
    expect(await send(events.at(-1)!)).toBe(0);
    expect((await billing.licenses.get(licenseId))!.creditsLimit).toBe(4000 + 13 * 500);
  });

  test.each([
    ['no such secret', { status: 400, body: '{}' }, 'Secrets Manager answered with status 400'],
    ['a binary secret', { body: '{"SecretBinary":"c2s="}' }, 'the secret has no text'],
    ['a secret of more lines', { body: JSON.stringify({ SecretString: `${key}\n${key}` }) }, 'is not a key'],
    ['another text', { body: JSON.stringify({ SecretString: `{"key":"${key}"}` }) }, 'is not a key'],
  ])('%s', async (_what, answer, why) => {
    secret = answer;
    const { events, invoiceId } = story(10, false);
    expect(await send(events.at(-1)!)).toBe(1);
    expect(lastLine().sentence).toMatch(
      new RegExp(`invoice ${invoiceId} of sub_\\w+ could not be fetched: `),
    );
    expect(lastLine().sentence).toContain(why);
    expect(asked()).toEqual(['/secrets']);
    expect(logged.join('\n')).not.toContain(key);
  });
});
