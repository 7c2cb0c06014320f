import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { dashboardHeaders } from '../../lib/dashboard-headers.ts';
import { sessionSettings } from '../../local/sign-in.ts';
import { openBrowser, openPage, screen, signIn } from '../support/browser.ts';
import { openClient, openOperation } from '../support/reference-page.ts';
import { samplePhoto } from '../support/uploads.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

/** The dashboard as it is deployed: on an origin of its own, with the headers that CloudFront sends there. */
let site: Server;
let siteUrl: string;
let browser: Browser;
let service: RunningService;

const dist = new URL('../../dashboard/dist/', import.meta.url).pathname;
const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

beforeAll(async () => {
  site = createServer((req, res) => void serve(req.url!, res));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  [browser, service] = await Promise.all([
    openBrowser(),
    startService({ args: ['--allow-origin', siteUrl] }),
  ]);
});

afterAll(async () => {
  await Promise.all([browser.close(), service.end()]);
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
  removeFolder(service.dataDir);
});

async function serve(url: string, res: import('node:http').ServerResponse): Promise<void> {
  const origin = new URL(service.ready.baseUrl).origin;
  const { securityHeadersBehavior: security, customHeadersBehavior: custom } = dashboardHeaders({
    connectSources: [origin],
    imageSources: [origin],
  });
  for (const { header, value } of custom!.customHeaders) res.setHeader(header, value);
  res.setHeader('content-security-policy', security!.contentSecurityPolicy!.contentSecurityPolicy);
  const path = url.split('?')[0]!;
  if (path === '/config.json') {
    const { issuer, clientId } = sessionSettings(origin);
    const config = { apiBaseUrl: service.ready.baseUrl, signIn: { issuer, clientId, domainUrl: origin } };
    return void res.setHeader('content-type', 'application/json').end(JSON.stringify(config));
  }
  const file = extname(path) === '' ? 'index.html' : path.slice(1);
  res.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
  res.end(await readFile(join(dist, file)));
}

test('an account signs in, sends a photo, makes an image of it, sees it and saves it, and the browser complains of nothing', async () => {
  const { page, complaints, close } = await openPage(browser);
  await page.goto(`${siteUrl}/playground`);
  await signIn(page, service);
  await screen(page, 'Playground');
  await page.getByRole('button', { name: /^Identity/ }).click();
  await page.getByRole('menuitemradio', { name: /^citrine/ }).click();
  const photo = { name: 'cup.png', mimeType: 'image/png', buffer: await samplePhoto() };
  await page.locator('input[type=file]').setInputFiles([photo]);
  const prompt = 'a lighthouse on another shore';
  await page.getByLabel('Prompt', { exact: true }).fill(prompt);
  await page.getByRole('radio', { name: /^Small/ }).click();
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.getByText('1 credit charged').waitFor();
  await page.getByText('1 reference image').waitFor();
  const image = page.getByRole('img', { name: prompt });
  const width = await image.evaluate(async (element: any) => {
    await element.decode();
    return element.naturalWidth;
  });
  expect(width).toBe(512);
  const download = page.waitForEvent('download');
  await page
    .getByRole('button', { name: /^Download/ })
    .first()
    .click();
  expect((await download).suggestedFilename()).toMatch(/\.png$/);
  expect(complaints).toEqual([]);
  await close();
}, 60_000);

test('the API reference sends requests straight to the API, event streams too', async () => {
  const { page, complaints, close } = await openPage(browser);
  await openOperation(page, siteUrl, 'Generate images', 'generating/POST/generate');
  const { client, send } = await openClient(page, 'post /generate');
  const { identities, keys } = service.ready;
  const body = { identityId: identities.aurora, prompt: 'a lake', width: 512, height: 512 };
  await client.locator('.cm-content').first().fill(JSON.stringify(body));
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await send(keys.pro!);
  await client.getByText('200 OK').waitFor();
  await client.getByText('event: completed').waitFor({ timeout: 40_000 });
  const request = await sent;
  expect(request.url().split('?')[0]).toBe(`${service.ready.baseUrl}/generate`);
  expect(request.headers().accept).toContain('text/event-stream');
  expect(complaints).toEqual([]);
  await close();
}, 60_000);

test('a page of an origin that is not allowed can sign nobody in', async () => {
  const { page, close } = await openPage(browser);
  const elsewhere = siteUrl.replace('127.0.0.1', 'localhost');
  await page.goto(`${elsewhere}/playground`);
  await page
    .getByLabel('E-mail')
    .waitFor({ timeout: 3000 })
    .then(
      () => Promise.reject(new Error('the sign-in page was shown')),
      () => {},
    );
  await close();
});
