import { beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page, Request } from 'playwright-core';
import sharp from 'sharp';
import {
  askFor,
  chooseIdentity,
  chooseLicense,
  expectFits,
  hasFocus,
  promptField,
  useDashboard,
  type Visitor,
  type VisitOptions,
} from '../support/browser.ts';

const dashboard = useDashboard();
let cup: Buffer;

/** A color that nothing has but the product. */
const productColor = '#00c040';

beforeAll(async () => {
  const product = { width: 300, height: 300, channels: 3, background: productColor } as const;
  cup = await sharp({ create: product }).png().toBuffer();
});

async function visit(options: VisitOptions = {}): Promise<Visitor> {
  const visitor = await dashboard.visit('playground', options);
  await chooseIdentity(visitor.page, 'citrine');
  await chooser(visitor.page).waitFor();
  return visitor;
}

const chooser = (page: Page): Locator => page.locator('input[type=file]');
const rows = (page: Page): Locator => page.getByRole('list', { name: 'Added images' }).getByRole('listitem');
const row = (page: Page, text: string): Locator => rows(page).filter({ hasText: text });
const remove = (page: Page, name: string): Locator => page.getByRole('button', { name: `Remove ${name}` });
const png = (name: string) => ({ name, mimeType: 'image/png', buffer: cup });
const svg = (name: string) => ({ ...png(`${name}.svg`), buffer: Buffer.from('<svg xmlns="x"/>') });

/** Until the service has every file. */
async function uploaded(page: Page): Promise<void> {
  await page
    .getByRole('progressbar', { name: /^Upload of/ })
    .first()
    .waitFor({ state: 'detached' });
  expect(await page.getByRole('button', { name: /^Upload .* again$/ }).count()).toBe(0);
}

async function generate(page: Page, prompt = 'on a table'): Promise<Request> {
  const sent = page.waitForRequest('**/playground/generate');
  await askFor(page, prompt);
  return sent;
}

/** The share of an image's pixels that have the product's color. */
function shareOfProduct(image: Locator): Promise<number> {
  return image.evaluate(async (element: any) => {
    await element.decode();
    const { OffscreenCanvas } = globalThis as any;
    const drawing = new OffscreenCanvas(element.naturalWidth, element.naturalHeight).getContext('2d');
    drawing.drawImage(element, 0, 0);
    const { data } = drawing.getImageData(0, 0, element.naturalWidth, element.naturalHeight);
    let same = 0;
    for (let at = 0; at < data.length; at += 4) {
      const far = Math.abs(data[at]) + Math.abs(data[at + 1] - 0xc0) + Math.abs(data[at + 2] - 0x40);
      if (far < 12) same += 1;
    }
    return same / (data.length / 4);
  });
}

/** Drags files over the form, and goes on doing so until `letGo` drops them there. */
async function drag(page: Page, files: { name: string; mimeType: string; buffer: Buffer }[], letGo = true) {
  const contents = files.map(({ buffer, ...file }) => ({ ...file, base64: buffer.toString('base64') }));
  await page.getByRole('form').evaluate(
    (form: any, given: any) => {
      const { DataTransfer, DragEvent, File, Uint8Array } = globalThis as any;
      const dataTransfer = new DataTransfer();
      for (const { name, mimeType, base64 } of given.contents) {
        dataTransfer.items.add(new File([Uint8Array.fromBase64(base64)], name, { type: mimeType }));
      }
      const send = (type: string) =>
        form.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      clearInterval((globalThis as any).dragging);
      send('dragover');
      // A browser repeats the event for as long as something is dragged.
      if (given.letGo) send('drop');
      else (globalThis as any).dragging = setInterval(send, 100, 'dragover');
    },
    { contents, letGo },
  );
}

test('a product’s photo is chosen, uploaded at once, and its pixels stand in the picture that is made', async () => {
  const { page, complaints } = await visit();
  await chooser(page).setInputFiles([png('cup.png')]);
  expect(await row(page, 'cup.png').textContent()).toMatch(/KB · 300 × 300/);
  await uploaded(page);
  const preview = row(page, 'cup.png').locator('img');
  expect(await shareOfProduct(preview)).toBe(1);
  await page.getByRole('radio', { name: /^Exact product/ }).click();
  await page.getByRole('switch', { name: 'Preserve branding' }).click();
  const sent = await generate(page, 'a cup on a table');
  expect(sent.postDataJSON()).toMatchObject({
    referenceImages: [{ uploadId: expect.stringMatching(/^upl_/) }],
    referenceMode: 'exact_product',
    preserveBranding: true,
  });
  await page.getByText('1 credit charged').waitFor();
  await page.getByText('1 exact product image').waitFor();
  expect(await shareOfProduct(page.getByRole('img', { name: 'a cup on a table' }))).toBeGreaterThan(0.01);

  await remove(page, 'cup.png').click();
  await page.getByRole('radio', { name: /^Reference/ }).click();
  await page.getByRole('button', { name: 'Use these settings' }).click();
  await row(page, 'cup.png').waitFor();
  expect(await page.getByRole('radio', { name: /^Exact product/ }).isChecked()).toBe(true);
  await remove(page, 'cup.png').click();
  await page.getByRole('link', { name: 'Open in history' }).click();
  await page.getByRole('link', { name: 'Use again' }).click();
  await row(page, 'cup.png').waitFor();
  expect(complaints).toEqual([]);
});

test('files are dropped anywhere, with the target in sight, and one that can’t be used says why', async () => {
  const { page } = await visit();
  await drag(page, [png('cup.png')], false);
  await page.getByText('Drop to add').waitFor();
  await drag(page, [svg('logo'), png('cup.png')]);
  await page.getByText('Drop to add').waitFor({ state: 'detached' });
  expect(await row(page, 'logo.svg').textContent()).toContain('SVG drawings can’t be used');
  await uploaded(page);
  expect((await generate(page)).postDataJSON().referenceImages).toHaveLength(1);
  await row(page, 'logo.svg').waitFor({ state: 'detached' });
});

test('four images are the most, and what is removed hands the focus to its neighbor', async () => {
  const { page } = await visit();
  await chooser(page).setInputFiles(['1', '2', '3', '4', '5'].map((name) => png(`${name}.png`)));
  await page.getByText('At most 4 images: 1 file was left out.', { exact: true }).waitFor();
  expect(await rows(page).count()).toBe(4);
  const neighbors = { '2.png': '3.png', '4.png': '3.png', '3.png': '1.png' };
  for (const [gone, next] of Object.entries(neighbors)) {
    await remove(page, gone).press('Enter');
    expect(await page.evaluate(() => (globalThis as any).document.activeElement.ariaLabel)).toBe(
      `Remove ${next}`,
    );
  }
  await remove(page, '1.png').press('Enter');
  expect(await hasFocus(chooser(page))).toBe(true);
});

test('an image is pasted, and a pasted address is offered, fetched by the service only, and refused at its place', async () => {
  const { page } = await visit();
  const hosts = new Set<string>();
  page.on('request', (request) => hosts.add(new URL(request.url()).hostname));
  const copy = (type: string, base64: string) =>
    page.evaluate(
      async ([kind, content]) => {
        const { ClipboardItem, Blob, Uint8Array, navigator } = globalThis as any;
        const blob = new Blob([Uint8Array.fromBase64(content)], { type: kind });
        await navigator.clipboard.write([new ClipboardItem({ [kind!]: blob })]);
      },
      [type, base64],
    );
  await copy('image/png', cup.toString('base64'));
  await page.getByRole('radio', { name: /^Reference/ }).focus();
  await page.keyboard.press('Control+v');
  await row(page, 'Pasted image.png').waitFor();
  await copy('text/plain', Buffer.from('https://shop.invalid/cups/red%20cup.jpg').toString('base64'));
  await page.keyboard.press('Control+v');
  await page.keyboard.press('Enter');
  await row(page, 'red cup.jpg').waitFor();
  expect(await row(page, 'red cup.jpg').textContent()).toContain('shop.invalid');
  await generate(page);
  await row(page, 'Could not be fetched').waitFor();
  expect(await row(page, 'Could not be fetched').textContent()).toContain('shop.invalid');
  expect(await row(page, 'Pasted image.png').textContent()).not.toContain('Could not');
  await page
    .getByRole('alert')
    .filter({ hasText: 'shop.invalid/red cup.jpg: could not be fetched' })
    .waitFor();
  expect([...hosts].filter((host) => host.includes('shop'))).toEqual([]);
  await remove(page, 'shop.invalid').click();
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.getByText('1 credit charged').waitFor();
});

test('what can’t be sent is said before it is sent, where it is', async () => {
  const { page } = await visit();
  let requests = 0;
  page.on('request', (request) => (requests += request.url().endsWith('/playground/generate') ? 1 : 0));
  await promptField(page).fill('a cup');
  await page.getByRole('radio', { name: /^Exact product/ }).click();
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.getByText('Exact product needs an image.').waitFor();
  expect(await hasFocus(chooser(page))).toBe(true);
  const address = page.getByLabel('Or by address');
  await address.fill('http://shop.example/cup.jpg');
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.getByText('Only https:// addresses can be fetched.').waitFor();
  expect(await address.getAttribute('aria-invalid')).toBe('true');
  expect(requests).toBe(0);
});

test('a reload, which loses the images, says so', async () => {
  const { page } = await visit();
  await chooser(page).setInputFiles([png('cup.png')]);
  await uploaded(page);
  await page.reload();
  await page.getByText('Reference images are not kept when the page is loaded again.').waitFor();
  await chooser(page).setInputFiles([png('cup.png')]);
  await uploaded(page);
  expect(await page.getByText('Reference images are not kept').count()).toBe(0);
  await remove(page, 'cup.png').click();
  await page.reload();
  await chooser(page).waitFor();
  expect(await page.getByText('Reference images are not kept').count()).toBe(0);
});

test('an upload that breaks is tried again', async () => {
  const { page } = await visit();
  let broken = true;
  await page.route(/\/image-generation[^/]*\/?$/, (route) => (broken ? route.abort() : route.continue()));
  await chooser(page).setInputFiles([png('cup.png')]);
  await row(page, 'The connection broke.').waitFor();
  await askFor(page, 'on a table');
  await page.getByRole('alert').filter({ hasText: 'cup.png could not be uploaded.' }).waitFor();
  broken = false;
  await page.getByRole('button', { name: 'Upload cup.png again' }).click();
  await uploaded(page);
  await row(page, 'The connection broke.').waitFor({ state: 'detached' });
});

test('images stay while another identity is chosen, and are uploaded anew for another license', async () => {
  const { page } = await visit();
  const licenses: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/uploads')) licenses.push(request.postDataJSON().licenseId);
  });
  await chooser(page).setInputFiles([png('cup.png')]);
  await uploaded(page);
  await chooseIdentity(page, 'harbor');
  await page.getByText('harbor takes no reference images; citrine does. Your 1 image is kept').waitFor();
  await drag(page, [png('pot.png')]);
  expect((await generate(page)).postDataJSON()).not.toHaveProperty('referenceImages');
  await page.getByText('1 credit charged').waitFor();
  await chooseIdentity(page, 'citrine');
  await chooseLicense(page, 'Enterprise');
  await row(page, 'cup.png').waitFor();
  await generate(page, 'for the other license');
  await page.getByRole('img', { name: 'for the other license' }).waitFor();
  const { pro, enterprise } = dashboard.service.ready.licenses;
  expect(licenses).toEqual([pro, enterprise]);
});

test('on a small phone axe finds nothing and nothing is too wide: empty, full, and with what was refused', async () => {
  const { page } = await visit({ viewport: { width: 360, height: 740 } });
  await expectFits(page, 'empty');
  await chooser(page).setInputFiles([
    svg('logo'.repeat(30)),
    png('cup.png'),
    png(`${'long'.repeat(30)}.png`),
  ]);
  await page.getByLabel('Or by address').fill(`https://${'shop.'.repeat(9)}example/${'cup'.repeat(90)}.jpg`);
  await page.getByRole('button', { name: 'Add the address' }).click();
  await page.getByLabel('Or by address').fill('nothing');
  await page.getByRole('button', { name: 'Add the address' }).click();
  await page.getByText('An address begins with').waitFor();
  await uploaded(page);
  await drag(page, [png('4.png'), png('5.png')]);
  await page.getByText('At most 4 images: 1 file was left out.', { exact: true }).waitFor();
  await expectFits(page, 'full');
  await drag(page, [png('6.png')], false);
  await page.getByText('Remove an image first').waitFor();
  await expectFits(page, 'while something is dragged');
});
