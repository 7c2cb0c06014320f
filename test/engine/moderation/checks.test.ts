import { S3Client } from '@aws-sdk/client-s3';
import { expect, test } from '@jest/globals';
import { bedrockCheck } from '../../../shared/moderation/bedrock-check.ts';
import { httpCheck } from '../../../shared/moderation/http-check.ts';
import { promptCheck, type AskAboutPrompt } from '../../../shared/moderation/prompt-check.ts';
import { recordingMeter } from '../../../shared/base/meter.ts';
import { useScriptedServer } from '../../support/scripted-server.ts';

const server = useScriptedServer();
const asked = {
  requestId: '01a22283-12dc-7784-8967-9f731222647f',
  prompt: 'a calm lake',
  negativePrompt: '',
  identityId: 'idn_1',
  tenant: 't',
};

const askGuardrail = (changes: Partial<typeof asked> = {}) => {
  const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
  const { config } = new S3Client({ region: 'eu-west-1', credentials });
  const guardrail = { guardrailId: 'abc123', guardrailVersion: '7', config, bedrockUrl: server.url };
  return bedrockCheck(guardrail)({ ...asked, ...changes }, 2000);
};

const answer = (value: object, status = 200) => {
  server.answer = () => ({ status, body: JSON.stringify(value) });
};

test('a guardrail is asked about both texts, as the role that the function has', async () => {
  answer({ action: 'NONE', assessments: [], outputs: [], usage: {} });
  expect(await askGuardrail({ negativePrompt: 'fog' })).toEqual({ allowed: true, categories: [] });
  const [{ path, headers, body }] = server.requests as any;
  expect(path).toBe('/guardrail/abc123/version/7/apply');
  expect(headers.authorization).toContain('/eu-west-1/bedrock/aws4_request');
  expect(JSON.parse(await body)).toEqual({
    source: 'INPUT',
    content: [{ text: { text: 'a calm lake' } }, { text: { text: 'fog' } }],
  });
});

test('what a guardrail acted on is told by category, without what its owner named', async () => {
  const secret = { name: 'our rule', match: 'calm' };
  answer({
    action: 'GUARDRAIL_INTERVENED',
    assessments: [
      {
        contentPolicy: {
          filters: [
            { type: 'VIOLENCE', confidence: 'HIGH', action: 'BLOCKED' },
            { type: 'HATE', confidence: 'LOW', action: 'NONE' },
          ],
        },
        topicPolicy: { topics: [{ ...secret, type: 'DENY', action: 'BLOCKED' }] },
        wordPolicy: {
          customWords: [{ ...secret, action: 'BLOCKED' }],
          managedWordLists: [{ ...secret, type: 'PROFANITY', action: 'BLOCKED' }],
        },
        sensitiveInformationPolicy: { piiEntities: [], regexes: [{ ...secret, action: 'ANONYMIZED' }] },
      },
    ],
  });
  expect(await askGuardrail()).toEqual({
    allowed: false,
    categories: ['VIOLENCE', 'PROFANITY', 'denied-topic', 'denied-word', 'personal-data'],
  });
});

test('a guardrail that is throttled or does not exist has no verdict', async () => {
  answer({ message: 'Too many requests' }, 429);
  await expect(askGuardrail()).rejects.toThrow('status 429');
  answer({ action: 'ALLOW' });
  await expect(askGuardrail()).rejects.toThrow('another form');
});

test('a prompt that could not be checked is generated where that is chosen, and both are counted', async () => {
  const lines: [string, object][] = [];
  const log = { info: () => {}, error: (...line: [string, object]) => void lines.push(line) };
  const meter = recordingMeter();
  const check = (ask: AskAboutPrompt) => promptCheck({ ask, onFailure: 'allow', log })(asked, meter);
  answer({ allowed: 'yes', prompt: asked.prompt });
  await check(httpCheck({ url: server.url, readSecret: async () => 'whsec_a', clock: { now: Date.now } }));
  const message = "the check's answer has another form than it should have";
  const causes = [{ name: 'Error', message, at: expect.any(Array) }];
  expect(lines).toEqual([['prompt not checked', { requestId: asked.requestId, causes }]]);
  await check(() => Promise.resolve({ allowed: true, categories: [] }));
  const refused = check(() => Promise.resolve({ allowed: false, categories: [] }));
  await expect(refused).rejects.toThrow('refused for its content.');
  const outcomes = ['failed', 'allowed', 'refused'].map((outcome) => ['promptChecks', outcome]);
  expect(meter.counts).toEqual(outcomes);
});
