import { expect, test } from '@jest/globals';
import { asked, lines, linesFor } from './asked.ts';
import { withModel } from './plan.ts';
import { modelStackName, stackName } from './stand-in-aws.ts';

const configuration = { mail: { from: 'no-reply@example.com' } };
const verified = { 'example.com': 'SUCCESS' };

test.each([
  ['the domain', verified],
  ['the address alone', { 'no-reply@example.com': 'SUCCESS', 'example.com': 'FAILED' }],
])(
  'with %s verified, in an account that sends to everybody, there is nothing to note',
  async (_, identities) => {
    expect(await linesFor({ configuration, mailIdentities: identities })).toEqual([]);
  },
);

test('SES is asked only where the service sends e-mails and is deployed', async () => {
  const modelOnly = { configuration: { ...withModel, ...configuration }, only: 'model' } as const;
  const stacks = { [stackName]: {}, [modelStackName]: {} };
  for (const world of [{}, { ...modelOnly, stacks }]) {
    const { calls } = await asked(world);
    expect(calls.filter(({ action }) => /GetAccount$|EmailIdentity/.test(action))).toEqual([]);
  }
});

test('an address that SES does not know stops, with the command that begins its proof', async () => {
  const [found, ...others] = await linesFor({ configuration });
  expect(others).toEqual([]);
  expect(found).toMatch(/^stop: .*would refuse every e-mail from no-reply@example\.com/);
  expect(found).toContain('aws sesv2 create-email-identity --email-identity example.com --region eu-west-1');
  expect(found).toContain('docs/deploying.md#e-mails');
});

test.each(['PENDING', 'FAILED', 'NOT_STARTED'])(
  'a domain that is %s stops, with what to wait for',
  async (status) => {
    const [found, ...others] = await linesFor({ configuration, mailIdentities: { 'example.com': status } });
    expect(others).toEqual([]);
    expect(found).toMatch(/^stop: .*waits for its proof.*once VerifiedForSendingStatus is true/);
    expect(found).toContain('aws sesv2 get-email-identity --email-identity example.com --region eu-west-1');
  },
);

test('a domain that was verified and is not found in DNS for a while keeps no fix waiting', async () => {
  const mailIdentities = { 'example.com': 'TEMPORARY_FAILURE' };
  expect(await linesFor({ configuration, mailIdentities })).toEqual([
    expect.stringMatching(/^note: .*DKIM records are still in the domain's DNS/),
  ]);
});

test.each([
  [
    'is in the sandbox',
    { ProductionAccessEnabled: false },
    /customers get no e-mails.*--production-access-enabled/,
  ],
  ['is paused', { SendingEnabled: false }, /paused sending/],
  [
    'sends to who complained',
    { SuppressedReasons: ['BOUNCE'] },
    /--suppressed-reasons BOUNCE COMPLAINT --region/,
  ],
  ['sends to addresses that bounce', { SuppressedReasons: ['COMPLAINT'] }, /--suppressed-reasons/],
])('an account of SES that %s is noted, with what to do', async (_, mailAccount, sentence) => {
  const [found, ...others] = await linesFor({ configuration, mailIdentities: verified, mailAccount });
  expect(others).toEqual([]);
  expect(found).toMatch(/^note: /);
  expect(found).toMatch(sentence);
});

test('without the permission it is said which one is missing, and the deployment goes on', async () => {
  for (const denied of [['GetEmailIdentity'], ['GetAccount']]) {
    const found = lines(await asked({ configuration, mailIdentities: verified, denied }));
    expect(found).toEqual([
      expect.stringMatching(/^note: It was not checked whether SES.*ses:GetEmailIdentity and ses:GetAccount/),
    ]);
  }
});
