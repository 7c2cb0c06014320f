import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createGenerationBody } from '../../../shared/contracts/generation.ts';
import { openAiDialect, openAiMembers, translateOpenAiBody } from '../../../shared/contracts/openai.ts';

const sound = { model: 'aurora', prompt: 'a lighthouse' };
const translated = (changes: object) => translateOpenAiBody({ ...sound, ...changes });

test('a body of POST /generate comes of it, with each value where it belongs', () => {
  const sent = {
    ...sound,
    n: 2,
    size: '768x512',
    output_format: 'webp',
    seed: 5,
    negative_prompt: 'fog',
    guidance_scale: 4.5,
    steps: 20,
  };
  const { body, problem, form } = translateOpenAiBody(sent);
  expect([problem, form]).toEqual([null, 'url']);
  expect(body).toEqual({
    identityId: 'aurora',
    prompt: 'a lighthouse',
    numOutputs: 2,
    width: 768,
    height: 512,
    outputFormat: 'webp',
    seed: 5,
    negativePrompt: 'fog',
    guidanceScale: 4.5,
    numInferenceSteps: 20,
  });
  expect(createGenerationBody.safeParse(body).success).toBe(true);
});

test.each<[string, object]>([
  ['auto', { size: 'auto' }],
  ['their defaults', { quality: 'auto', style: 'vivid', background: 'auto', moderation: 'auto' }],
  ['a default of an older model', { quality: 'standard' }],
  ['a user', { user: 'somebody' }],
  ['partial images, which there are none of', { stream: true, partial_images: 3 }],
  ['no stream', { stream: false }],
])('%s changes nothing of the body', (_what, changes) => {
  expect(translated(changes)).toMatchObject({ body: translated({}).body, problem: null });
});

test('null says the same as leaving a member out, for each member', () => {
  for (const member of openAiMembers.filter((name) => !(name in sound))) {
    const { body, problem, form } = translated({ [member]: null });
    expect([member, problem, form]).toEqual([member, null, 'url']);
    expect(createGenerationBody.parse(body)).toEqual(createGenerationBody.parse(translated({}).body));
  }
});

test.each<[object, string]>([
  [{ response_format: 'b64_json' }, 'b64_json'],
  [{ stream: true }, 'events'],
  [{ stream: true, response_format: 'b64_json' }, 'events'],
  [{ stream: false, response_format: 'url' }, 'url'],
])('%j is answered as %s', (changes, form) => {
  expect(translated(changes)).toMatchObject({ problem: null, form });
});

describe('what has no meaning here is refused by its name:', () => {
  test.each<[object, string]>([
    [{ quality: 'hd' }, 'quality must be left out or "auto".'],
    [{ style: 'natural' }, 'style must be left out or "vivid".'],
    [{ background: 'transparent' }, 'background must be left out or "auto".'],
    [{ moderation: 'low' }, 'moderation must be left out or "auto".'],
    [{ size: '1024' }, 'size must be "auto" or a width and a height, as "1024x1024".'],
    [{ size: 1024 }, 'size must be'],
    [{ size: '1024x1024x' }, 'size must be'],
    [{ size: `${'9'.repeat(10)}x512` }, 'size must be'],
    [{ response_format: 'file' }, 'response_format must be "url" or "b64_json".'],
    [{ stream: 'true' }, 'stream must be true or false.'],
    [{ partial_images: 4 }, 'partial_images must be an integer from 0 to 3.'],
    [
      { stream: true, response_format: 'url' },
      'response_format must be left out or "b64_json" where stream is true.',
    ],
    [{ mask: 'x' }, 'unknown member "mask".'],
    [{ image: 'x' }, 'unknown member "image".'],
    [{ output_compression: 50 }, 'unknown member "output_compression".'],
    // Names of ours that have others here.
    [{ numOutputs: 1 }, 'unknown member "numOutputs".'],
    [{ identityId: 'x' }, 'unknown member "identityId".'],
  ])('%j: %s', (changes, problem) => {
    expect(translated(changes).problem).toContain(problem);
  });

  test('all of it at once', () => {
    const { problem } = translated({ stream: true, response_format: 'url', quality: 'hd', mask: 'x' });
    for (const name of ['response_format', 'quality', '"mask"']) expect(problem).toContain(name);
  });
});

test('whatever is sent, nothing reaches the body but members of POST /generate, with the values that were sent', () => {
  const name = fc.oneof(fc.constantFrom(...openAiMembers), fc.string());
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue()), (sent) => {
      const { body } = translateOpenAiBody(sent as Record<string, unknown>);
      const { width, height, ...same } = body;
      const values: unknown[] = Object.values(sent);
      expect(Object.values(same).filter((value) => !values.includes(value))).toEqual([]);
      expect(Object.keys(body).filter((key) => !(key in createGenerationBody.shape))).toEqual([]);
      expect(width === undefined).toBe(height === undefined);
      if (width !== undefined) expect(String(sent.size)).toMatch(/^\d+x\d+$/);
    }),
  );
});

test('has another name for every member of POST /generate that it takes by another', () => {
  const taken = Object.keys(
    translated({
      size: '512x512',
      n: 1,
      output_format: 'png',
      seed: 1,
      negative_prompt: '',
      guidance_scale: 1,
      steps: 20,
    }).body,
  );
  expect(taken.filter((member) => !(member in openAiDialect.members))).toEqual([]);
});
