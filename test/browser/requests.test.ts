import { expect, test } from '@jest/globals';
import { newRequestId } from '../../shared/base/ids.ts';
import { keepRefused } from '../../shared/limits/refusal-store.ts';
import { chooseLicense, expectFits, goTo, phone, useDashboard } from '../support/browser.ts';
import { tableOf } from '../support/grants.ts';
import { generate } from '../support/requests.ts';
import { until } from '../support/until.ts';

const dashboard = useDashboard();

test('stored and refused requests are listed together, filtered by status and code, and found by their id', async () => {
  const { service } = dashboard;
  const { keys, licenses, identities } = service.ready;
  const made = await dashboard.make({ identityId: identities.aurora, prompt: 'a red fox' }, 'starter');
  const failed = await dashboard.make({ identityId: identities.flint }, 'starter');
  const refused = await generate(service, keys.starter!, { identityId: identities.aurora, numOutputs: 4 });
  expect(refused.body.code).toBe('TIER_LIMIT');
  const earlier = {
    requestId: newRequestId(Date.now() - 3600_000),
    atMs: Date.now() - 3600_000,
    route: 'GET /generate/{requestId}',
    status: 404,
    code: 'REQUEST_NOT_FOUND' as const,
    error: 'No request has this id.',
  };
  const owner = { licenseId: licenses.starter!, caller: `key_${'0a'.repeat(16)}`, keyName: 'shop‮' };
  await keepRefused(tableOf(service.dataDir), owner, earlier, new AbortController().signal);

  const { page, complaints } = await dashboard.visit('');
  await chooseLicense(page, 'Starter');
  await goTo(page, 'Requests');
  const rows = page.getByRole('list', { name: 'Requests' }).getByRole('listitem');
  await until('all are listed', async () => (await rows.count()) === 4);
  const texts = await rows.allTextContents();
  for (const [i, part] of ['Refused', 'Failed', 'Completed', 'Refused'].entries())
    expect(texts[i]).toMatch(new RegExp(`^${part}`));
  expect(texts[0]).toContain('On the Starter tier numOutputs must be at most 1.');
  expect(texts[3]).toContain('404 · GET /generate/{requestId} · shop');

  const count = (expected: number) =>
    until(`${expected} are shown`, async () => (await rows.count()) === expected);
  await page.getByLabel('Status').selectOption({ label: 'Refused' });
  await count(2);
  await page.getByLabel('Code').selectOption('REQUEST_NOT_FOUND');
  await count(1);
  await page.getByLabel('Status').selectOption({ label: 'Failed' });
  await page.getByLabel('Code').selectOption('All codes');
  await count(1);
  expect(await rows.textContent()).toContain(failed);

  for (const [id, part] of [
    [made, 'a red fox'],
    [refused.headers.get('x-request-id')!, 'TIER_LIMIT'],
    [newRequestId(0), 'No request has this id'],
  ] as const) {
    await page.getByLabel('Request id', { exact: true }).fill(` ${id.toUpperCase()}`);
    await page.keyboard.press('Enter');
    await page.getByRole('main').getByText(part).first().waitFor();
  }
  complaints.length = 0;
  await page.getByRole('button', { name: 'Show all requests' }).click();
  await count(4);
  await page.setViewportSize({ ...phone, width: 320 });
  await expectFits(page, 'the requests on a narrow phone');
  expect(complaints).toEqual([]);
});
