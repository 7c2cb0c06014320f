import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openDashboard, type Dashboard } from '../../../local/dashboard/dashboard.ts';
import { listen, type RunningServer } from '../../../local/http/server.ts';
import { createProject, type Project } from './support.ts';

const files: Record<string, string> = {
  'long.txt': 'long '.repeat(200),
  'long.png': 'long '.repeat(200),
  'short.txt': 'short',
};
const signIn = { issuer: 'http://127.0.0.1/pool', clientId: 'client-1', domainUrl: 'http://127.0.0.1' };

let project: Project;
let dashboard: Dashboard;
let server: RunningServer;

beforeAll(async () => {
  const publicFiles = Object.entries(files).map(([name, text]) => [`dashboard/public/${name}`, text]);
  project = createProject(Object.fromEntries(publicFiles));
  dashboard = openDashboard({
    folder: project.folder,
    config: {
      apiBaseUrl: 'http://127.0.0.1',
      signIn,
      creditMails: true,
      billingPortalUrl: null,
      supportContact: null,
    },
  });
  await dashboard.prepare();
  server = await listen(createServer((req, res) => void dashboard.handle(req, res)));
});
afterAll(async () => {
  dashboard.close();
  await server.close();
  await project.clear();
});

test.each([
  ['long.txt', 'gzip', 'gzip'],
  ['long.txt', 'br, gzip;q=0.8', 'gzip'],
  ['long.txt', 'gzip;q=0', null],
  ['short.txt', 'gzip', null],
  ['long.png', 'gzip', null],
])('%s for a client that takes %s has the coding %s', async (name, acceptEncoding, coding) => {
  const answer = await fetch(new URL(name, server.url), { headers: { 'accept-encoding': acceptEncoding } });
  expect([answer.headers.get('content-encoding'), await answer.text()]).toEqual([coding, files[name]]);
  expect(answer.headers.get('vary')).toBe(name === 'long.txt' ? 'Accept-Encoding' : null);
});
