import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  askFor,
  chooseIdentity,
  expectFits,
  goTo,
  phone,
  promptField,
  screen,
  useDashboard,
} from '../support/browser.ts';
import { tableOf } from '../support/grants.ts';
import { identityStore } from '../../shared/identities/store.ts';
import { noWords } from '../../shared/identities/version.ts';

const dashboard = useDashboard();
const shown = { triggerWords: ['qx7 light'], showsTriggerWords: true };
const words = { ...noWords, ...shown, promptTemplate: '{prompt}, in the manner of qx7' };
/** One is among those that the playground offers anyway, and one is not. */
const sizes = { basalt: { width: 1344, height: 768 }, harbor: { width: 704, height: 960 } };
const rights = { license: 'CC BY 4.0', source: 'https://creators.example/aurora', consent: null };

/**
 * Of aurora's two versions the first one ends, and the second one gets words and rights; of harbor's the first one fails.
 * Before all tests, as the service remembers for ten seconds what it has read of an identity.
 */
beforeAll(async () => {
  const { dataDir, ready } = dashboard.service;
  const catalog = identityStore(tableOf(dataDir));
  const identityId = ready.identities.aurora!;
  const [second, first] = await catalog.versions(identityId);
  const ends = { ...first!, retiresAtMs: Date.now() + 40 * 86_400_000 };
  await catalog.change(identityId, (before) => ({
    identity: { ...before!, model: { ...before!.model!, words, rights } },
    versions: [{ ...second!, words, rights }, ends],
  }));
  for (const [name, sizePx] of Object.entries(sizes)) {
    await catalog.change(ready.identities[name]!, (before) => ({
      identity: { ...before!, model: { ...before!.model!, words: { ...noWords, sizePx } } },
      versions: [],
    }));
  }
  const settings = { failWith: 'The model could not finish the image.' };
  const [, oldest] = await catalog.versions(ready.identities.harbor!);
  await catalog.change(ready.identities.harbor!, (before) => ({
    identity: before!,
    versions: [{ ...oldest!, settings }],
  }));
});

const toAurora = async (page: Page) => {
  await page.getByRole('link', { name: 'aurora' }).click();
  await screen(page, 'aurora');
};
const versionField = (page: Page) => page.getByLabel('Version', { exact: true });

/** What is said to be charged for the two of a pair. */
async function charges(page: Page, lines: string[]): Promise<void> {
  const list = page.getByRole('list', { name: 'What is charged' });
  for (const line of lines) await list.getByText(line, { exact: true }).waitFor();
  expect(await list.getByRole('listitem').count()).toBe(lines.length);
}

/** What the playground sends, with its idempotency keys. */
function sentOf(page: Page): any[] {
  const sent: any[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/playground/generate'))
      sent.push({ ...request.postDataJSON(), key: request.headers()['idempotency-key'] });
  });
  return sent;
}

test('an identity is found by its trigger words, and its page tells licence, source, and what changed when', async () => {
  const { page, complaints } = await dashboard.visit('identities');
  await page.getByRole('searchbox', { name: 'Words of an identity' }).fill('QX7');
  await page.getByText('1 identity', { exact: true }).waitFor();
  await toAurora(page);
  for (const fact of ['qx7 light', 'CC BY 4.0', 'https://creators.example/aurora', '1024 × 1024 px'])
    await page.locator('dl').getByText(fact).waitFor();
  const [second, first] = await page.getByRole('list', { name: 'Versions' }).getByRole('listitem').all();
  expect(await second!.textContent()).toMatch(/^Version 2Active.*Curtains of light\.$/);
  expect(await first!.textContent()).toMatch(/^Version 1.*It can be used until .*Use in the playground/);
  expect(complaints).toEqual([]);
});

test('the version that is picked is sent and told, the active one is not named, and a request that is used again pins its own', async () => {
  const { page, complaints } = await dashboard.visit('identities');
  const sent = sentOf(page);
  await toAurora(page);
  await page.getByRole('link', { name: 'Use in the playground version 1' }).click();
  await screen(page, 'Playground');
  expect(await versionField(page).inputValue()).toBe('1');
  await askFor(page, 'a pinned night');
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('1 credit charged').waitFor();
  await result.getByText('Version 1', { exact: true }).waitFor();
  await versionField(page).selectOption('');
  await askFor(page, 'an open night');
  await result.getByText('Version 2', { exact: true }).waitFor();
  await result.getByText('1 credit charged').waitFor();
  expect(sent.map(({ identityVersion }) => identityVersion)).toEqual([1, undefined]);
  await page.getByRole('link', { name: 'Open in history' }).click();
  await page.getByText('an open night, in the manner of qx7').waitFor();
  await page.getByRole('link', { name: 'Use again' }).click();
  await page.getByText('The settings of a stored request are filled in').waitFor();
  expect(await versionField(page).inputValue()).toBe('2');
  // Another identity has other versions.
  await page.goto(`${dashboard.url}playground?identity=${dashboard.service.ready.identities.citrine}`);
  await page.getByRole('button', { name: /^Identity citrine/ }).waitFor();
  expect(await versionField(page).count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('two versions are compared by the same seed; where the second is refused at first, the first is not sent again', async () => {
  const { page } = await dashboard.visit('identities');
  const sent = sentOf(page);
  await toAurora(page);
  await page.getByRole('link', { name: 'Compare versions' }).click();
  await screen(page, 'Playground');
  const other = page.getByLabel('Compare with');
  expect([await versionField(page).inputValue(), await other.inputValue()]).toEqual(['', '1']);
  // The same twice is no comparison.
  await versionField(page).selectOption('1');
  await page.getByRole('button', { name: /^Generate(?! both)/ }).waitFor();
  await other.selectOption('2');
  await expectFits(page, 'what is compared');
  const cost = (text: string) => page.getByText(text, { exact: true }).waitFor();
  await cost('2 credits');
  const refused = { status: 503, json: { error: 'Busy.', code: 'SERVICE_UNAVAILABLE' } };
  await page.route('**/playground/generate', (route) =>
    [1, 3].includes(sent.length) ? route.fulfill(refused) : route.continue(),
  );
  await askFor(page, 'a night twice');
  await charges(page, ['Nothing is charged: neither of the two was accepted.']);
  await cost('2 credits');
  await page.getByRole('button', { name: 'Try again' }).click();
  await charges(page, ['Version 1: 1 credit charged.', 'Version 2: not accepted, nothing charged.']);
  await cost('1 credit');
  await expectFits(page, 'a pair that was refused in part');
  // Another request is another pair, and what was sent is known after a look at another screen, too.
  await promptField(page).fill('another night');
  await cost('2 credits');
  await promptField(page).fill('a night twice');
  await goTo(page, 'History');
  await goTo(page, 'Playground');
  await cost('1 credit');
  await page.getByRole('button', { name: 'Generate version 2' }).click();
  await screen(page, 'Compare');
  expect(sent.map(({ identityVersion }) => identityVersion)).toEqual([1, 1, 2, 2]);
  expect([sent[1], sent[3]]).toEqual([sent[0], sent[2]]);
  for (const name of ['A', 'B']) await page.getByRole('img', { name: `${name}: a night twice` }).waitFor();
  const row = (name: string) => page.getByRole('row').filter({ hasText: name }).textContent();
  expect(await row('Seed')).toBe(`Seed${sent[0].seed}${sent[2].seed}`);
  expect(await row('Identity version')).toBe('Identity version≠ Different12');
});

test('of two versions that are compared the one that fails is not charged, and each side says what it was', async () => {
  const { harbor } = dashboard.service.ready.identities;
  const { page } = await dashboard.visit(`playground?identity=${harbor}&compare=1`);
  await page.getByText('2 credits', { exact: true }).waitFor();
  await askFor(page, 'a night that fails once');
  await screen(page, 'Compare');
  const side = (name: string, text: string) =>
    page
      .getByRole('region', { name: `Request ${name}` })
      .getByText(text, { exact: true })
      .waitFor();
  await side('A', '1 credit charged');
  await side('B', 'Nothing charged');
  expect(await page.getByRole('row').filter({ hasText: 'Credits charged' }).textContent()).toMatch(
    /Different10$/,
  );
});

test('the size follows the identity that is chosen until one is set, and what is restored stays', async () => {
  const { page, complaints } = await dashboard.visit('identities');
  const isSize = (name: RegExp) => page.getByRole('radio', { name, checked: true }).waitFor();
  await page.getByRole('link', { name: 'basalt' }).click();
  await screen(page, 'basalt');
  await page.evaluate(() => {
    const { PerformanceObserver } = globalThis as any;
    const shifts: number[] = ((globalThis as any).shifts = []);
    new PerformanceObserver((list: any) => shifts.push(...list.getEntries())).observe({
      type: 'layout-shift',
    });
  });
  await page.getByRole('link', { name: 'Use in the playground', exact: true }).click();
  await screen(page, 'Playground');
  await isSize(/^Wide\s*1344 × 768$/);
  // Whoever comes by a link never sees another size first.
  expect(await page.evaluate(() => (globalThis as any).shifts.length)).toBe(0);
  const height = async () =>
    (await page.getByRole('group', { name: 'Size in pixels' }).boundingBox())!.height;
  const before = await height();
  await chooseIdentity(page, 'harbor');
  await isSize(/^Default\s*704 × 960$/);
  // It takes a place that was there.
  expect(await height()).toBe(before);
  await chooseIdentity(page, 'flint');
  await isSize(/^Square\s*1024 × 1024$/);
  // A size that somebody set outlives the next choice, and no more than that.
  await page.getByRole('radio', { name: /^Small/ }).click();
  await chooseIdentity(page, 'basalt');
  await isSize(/^Small/);
  await chooseIdentity(page, 'harbor');
  await isSize(/^Default/);
  // So does one that is typed, over a reload, too.
  await page.getByRole('radio', { name: /^Custom/ }).click();
  await page.getByLabel('Width', { exact: true }).fill('640');
  await page.reload();
  await chooseIdentity(page, 'basalt');
  await isSize(/^Custom/);
  expect(await page.getByLabel('Width', { exact: true }).inputValue()).toBe('640');
  const made = await dashboard.make({
    identityId: dashboard.service.ready.identities.basalt,
    prompt: 'a small one',
  });
  await page.goto(`${dashboard.url}playground?from=${made}`);
  await page.getByText('The settings of a stored request are filled in').waitFor();
  await isSize(/^Small/);
  await page.reload();
  await isSize(/^Small/);
  expect(complaints).toEqual([]);
});

test('on a small phone nothing of the versions is too wide, and axe finds nothing', async () => {
  const { page } = await dashboard.visit('identities/aurora', { viewport: { ...phone, width: 320 } });
  await page.getByRole('heading', { name: 'Version 2' }).waitFor();
  await expectFits(page, 'an identity with versions');
  await page.getByRole('link', { name: 'Use in the playground version 1' }).click();
  await versionField(page).waitFor();
  await expectFits(page, 'a playground with a choice of versions');
});
