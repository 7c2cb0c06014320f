import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SendEmailCommand, SESv2Client, type SendEmailCommandInput } from '@aws-sdk/client-sesv2';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { RunningServer } from '../../../../local/http/server.ts';
import { startSes } from '../../../../local/ses/engine.ts';
import { mailer } from '../../../../shared/accounts/mailer.ts';
import { removeFolder, temporaryFolder } from '../../../support/service.ts';
import { credentials, region, setCredentials } from '../s3/support.ts';

let ses: RunningServer;
let client: SESv2Client;
const folder = join(temporaryFolder(), 'outbox');
const written: string[] = [];

beforeAll(async () => {
  ses = await startSes({ folder, credentials, region, onMail: (path) => void written.push(path) });
  setCredentials();
  process.env.AWS_ENDPOINT_URL_SESV2 = ses.url;
  client = new SESv2Client({});
});
beforeEach(() => void (written.length = 0));
afterAll(async () => {
  client.destroy();
  await ses.close();
  removeFolder(folder);
});

test('a mail of the service is a file with both texts', async () => {
  const subject = 'Größe: 80 %';
  await mailer('no-reply@example.com', ses.url).send({
    to: 'ada@example.com',
    subject,
    text: 'Grüße\nund mehr\n',
    html: '<p>Grüße</p>',
    unsubscribeUrl: 'https://dashboard.test/account',
  });
  expect(await readdir(folder)).toHaveLength(1);
  const [head, plain, html] = (await readFile(written[0]!, 'utf8')).split(/\r\n--part-[\w-]+\r\n/);
  expect(head).toMatch(/^From: no-reply@example\.com\r\nTo: ada@example\.com\r\n/);
  const encoded = /^Subject: =\?UTF-8\?B\?(.+)\?=\r$/m.exec(head!)![1]!;
  expect(Buffer.from(encoded, 'base64').toString()).toBe(subject);
  expect(head).toContain('\r\nList-Unsubscribe: <https://dashboard.test/account>\r\n');
  expect(plain).toMatch(/text\/plain[\s\S]*\r\n\r\nGrüße\r\nund mehr\r\n/);
  expect(html).toMatch(/text\/html[\s\S]*<p>Grüße<\/p>/);
});

const asked: SendEmailCommandInput = {
  FromEmailAddress: 'no-reply@example.com',
  Destination: { ToAddresses: ['ada@example.com'] },
  Content: { Simple: { Subject: { Data: 'S' }, Body: { Text: { Data: 'T' }, Html: { Data: 'H' } } } },
};

test('the SDK sends, and gets the message id', async () => {
  expect((await client.send(new SendEmailCommand(asked))).MessageId).toMatch(/^[\w-]{36}$/);
});

test.each<[string, Partial<SendEmailCommandInput>]>([
  ['more than one receiver', { Destination: { ToAddresses: ['a@b.c', 'd@e.f'] } }],
  ['nobody', { Destination: {} }],
  ['a copy', { Destination: { ToAddresses: ['a@b.c'], CcAddresses: ['d@e.f'] } }],
  ['a line break in an address', { Destination: { ToAddresses: ['a@b.c\r\nBcc: d@e.f'] } }],
  ['a raw mail', { Content: { Raw: { Data: Buffer.from('x') } } }],
  ['no text', { Content: { Simple: { Subject: { Data: 'S' }, Body: { Html: { Data: 'H' } } } } }],
])('a mail with %s is refused and not written', async (_, changes) => {
  const refused = client.send(new SendEmailCommand({ ...asked, ...changes }));
  await expect(refused).rejects.toMatchObject({ name: 'BadRequestException' });
  expect(written).toEqual([]);
});

test('a wrong secret is refused', async () => {
  const thief = new SESv2Client({ credentials: { ...credentials, secretAccessKey: 'guessed' } });
  const refused = thief.send(new SendEmailCommand(asked));
  await expect(refused).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
});
