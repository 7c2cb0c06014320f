import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dashboardHeaders } from '../../lib/dashboard-headers.ts';
import { listen, type RunningServer } from '../../local/http/server.ts';
import { sessionSettings } from '../../local/sign-in.ts';
import { askFor, chooseIdentity, naturalWidth, screen, signIn, useDashboard } from '../support/browser.ts';
import { openClient, openOperation } from '../support/reference-page.ts';
import { samplePhoto } from '../support/uploads.ts';
import { inRepository } from '../support/repository.ts';

/** The dashboard as it is deployed: on an origin of its own, with the headers that CloudFront sends there. */
let site: RunningServer;

const dist = inRepository('dashboard/dist');
const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

beforeAll(async () => {
  site = await listen(createServer((req, res) => void serve(req.url!, res)));
});
const dashboard = useDashboard(() => ['--allow-origin', site.url]);
afterAll(() => site.close());

async function serve(url: string, res: ServerResponse): Promise<void> {
  const origin = new URL(dashboard.service.ready.baseUrl).origin;
  const { securityHeadersBehavior: security, customHeadersBehavior: custom } = dashboardHeaders({
    connectSources: [origin],
    imageSources: [origin],
  });
  for (const { header, value } of custom!.customHeaders) res.setHeader(header, value);
  res.setHeader('content-security-policy', security!.contentSecurityPolicy!.contentSecurityPolicy);
  const path = url.split('?')[0]!;
  if (path === '/config.json') {
    const { issuer, clientId } = sessionSettings(origin);
    const config = {
      apiBaseUrl: dashboard.service.ready.baseUrl,
      signIn: { issuer, clientId, domainUrl: origin },
    };
    return void res.setHeader('content-type', 'application/json').end(JSON.stringify(config));
  }
  const file = extname(path) === '' ? 'index.html' : path.slice(1);
  res.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
  res.end(await readFile(join(dist, file)));
}

test('an account signs in, sends a photo, makes an image of it, saves it and uses it again, and the console stays empty', async () => {
  const { page, complaints } = await dashboard.open();
  await page.goto(`${site.url}/playground`);
  await signIn(page, dashboard.service);
  await screen(page, 'Playground');
  await chooseIdentity(page, 'citrine');
  const photo = { name: 'cup.png', mimeType: 'image/png', buffer: await samplePhoto() };
  await page.locator('input[type=file]').setInputFiles([photo]);
  const prompt = 'a lighthouse on another shore';
  await askFor(page, prompt);
  await page.getByText('1 credit charged').waitFor();
  await page.getByText('1 reference image').waitFor();
  expect(await naturalWidth(page, prompt)).toBe(512);
  // This page shows the file itself, so that the browser has it without the headers that let a script read it.
  await page.getByRole('link', { name: 'Open in history' }).click();
  expect(await naturalWidth(page, prompt)).toBe(512);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  expect((await download).suggestedFilename()).toMatch(/\.png$/);
  await page.getByRole('link', { name: 'Use as reference' }).click();
  await page.getByText('The picture is added to the reference images').waitFor();
  expect(complaints).toEqual([]);
});

test('a configuration that says no number of days is one of before that option, when they were 90', async () => {
  const { page } = await dashboard.open();
  await page.goto(`${site.url}/quickstart`);
  await signIn(page, dashboard.service);
  await page.getByText('Requests are kept for 90 days.').waitFor();
});

test('the API reference sends requests straight to the API, event streams too', async () => {
  const { page, complaints } = await dashboard.open();
  await openOperation(page, site.url, 'Generate images', 'generating/POST/generate');
  const { client, setAccept, send } = await openClient(page, 'post /generate');
  const { baseUrl, identities, keys } = dashboard.service.ready;
  const body = { identityId: identities.aurora, prompt: 'a lake', width: 512, height: 512 };
  await client.locator('.cm-content').first().fill(JSON.stringify(body));
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await send(keys.pro!);
  await client.getByText('200 OK').waitFor();
  await client.getByText('"creditsCharged"').waitFor();
  expect((await sent).url().split('?')[0]).toBe(`${baseUrl}/generate`);
  // The form accepts both types alike, and then the API answers with JSON.
  await setAccept('text/event-stream');
  await send(keys.pro!);
  await client.getByText('event: completed').waitFor();
  expect(complaints).toEqual([]);
});

test('a page of an origin that is not allowed can sign nobody in', async () => {
  const { page } = await dashboard.open();
  const answer = page.waitForResponse('**/oauth2/authorize**');
  await page.goto(`${site.url.replace('127.0.0.1', 'localhost')}/playground`);
  expect((await answer).status()).toBe(400);
  await page.waitForLoadState();
  expect(await page.getByLabel('E-mail').count()).toBe(0);
});
