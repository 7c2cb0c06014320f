import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createGenerationBody } from '../../../shared/generations/contract.ts';
import { openAiWords, openAiMembers, translateOpenAiBody } from '../../../shared/openai/contract.ts';

const sound = { model: 'aurora', prompt: 'a lighthouse' };
const translated = (changes: object) => translateOpenAiBody({ ...sound, ...changes });

test('a body of POST /generate comes of it, with each value where it belongs', () => {
  const theirs = { n: 2, output_format: 'webp', negative_prompt: 'fog', guidance_scale: 4.5, steps: 20 };
  const ours = { numOutputs: 2, outputFormat: 'webp', negativePrompt: 'fog', guidanceScale: 4.5 };
  const { body, problem, form } = translated({ ...theirs, seed: 5, size: '768x512' });
  expect([problem, form]).toEqual([null, 'both']);
  const same = { identityId: 'aurora', prompt: 'a lighthouse', seed: 5 };
  expect(body).toEqual({ ...same, ...ours, numInferenceSteps: 20, width: 768, height: 512 });
  expect(createGenerationBody.safeParse(body).success).toBe(true);
  // Refusals name each member as it was sent.
  expect(Object.keys(body).filter((member) => !(member in openAiWords.members))).toEqual([]);
});

test.each<[object]>([
  [{ size: 'auto', stream: false }],
  [{ quality: 'auto', style: 'vivid', background: 'auto', moderation: 'auto' }],
  ...['standard', 'hd', 'low', 'medium', 'high', 'xhigh', 'max'].map((quality): [object] => [{ quality }]),
  [{ style: 'natural', moderation: 'low', background: 'opaque', output_compression: 100 }],
  [{ stream: true, partial_images: 3 }],
])('%j changes no picture, and what has no effect is named', (changes) => {
  const { body, problem, ignored } = translated(changes);
  expect([body, problem]).toEqual([translated({}).body, null]);
  const names = Object.keys(changes).filter((name) => !['size', 'stream'].includes(name));
  expect(ignored.toSorted()).toEqual(names.toSorted());
});

test("an operator's name for an identity is one, and wins over a slug; nothing else is touched", () => {
  const names = { 'gpt-image-1': 'aurora', 'openai/dall-e-3': 'idn_1', drift: 'basalt' };
  const named = (model: unknown) => translateOpenAiBody({ ...sound, model }, names).body.identityId;
  expect(Object.keys(names).map(named)).toEqual(Object.values(names));
  for (const model of ['citrine', 'toString', '__proto__', 5, ['drift']]) expect(named(model)).toBe(model);
  expect('identityId' in translateOpenAiBody({ prompt: 'p' }, names).body).toBe(false);
});

test('null says the same as leaving a member out, for each member', () => {
  for (const member of openAiMembers.filter((name) => !(name in sound))) {
    const { body, problem, form } = translated({ [member]: null });
    expect([member, problem, form]).toEqual([member, null, 'both']);
    expect(translated({ [member]: null }).ignored).toEqual([]);
    expect(createGenerationBody.parse(body)).toEqual(createGenerationBody.parse(translated({}).body));
  }
});

test.each<[object, string]>([
  [{}, 'both'],
  [{ response_format: 'b64_json' }, 'b64_json'],
  [{ stream: true }, 'events'],
  [{ stream: false, response_format: 'url' }, 'url'],
])('%j is answered as %s', (changes, form) => {
  expect(translated(changes)).toMatchObject({ problem: null, form });
});

describe('an edit', () => {
  const edit = (changes: object) =>
    translateOpenAiBody(
      { ...sound, images: [{ image_url: 'data:;base64,' }], ...changes },
      {},
      { isEdit: true },
    );

  test('is a body of POST /generate with reference images, whose members keep their names in refusals', () => {
    const { body, problem, ignored } = edit({ reference_mode: 'exact_product', input_fidelity: 'low' });
    const referenceImages = [{ url: 'data:;base64,' }];
    const ours = {
      identityId: 'aurora',
      prompt: 'a lighthouse',
      referenceImages,
      referenceMode: 'exact_product',
    };
    expect([body, problem, ignored]).toEqual([ours, null, ['input_fidelity']]);
    expect(Object.keys(body).filter((member) => !(member in openAiWords.members))).toEqual([]);
  });

  test.each<[object, string]>([
    [{ images: undefined }, 'images must be 1 to 4 images: files in a form, or objects with image_url.'],
    [{ images: [] }, 'images must be 1 to 4 images'],
    [{ images: Array.from({ length: 5 }, () => ({ image_url: 'x' })) }, 'images must be 1 to 4 images'],
    [{ images: ['x'] }, 'images[0] must be an object with image_url.'],
    [{ images: [{ file_id: 'file-1' }] }, 'images[0].file_id is not supported: send an image_url.'],
    [
      { images: [{ image_url: { url: 'x' } }] },
      'images[0].image_url must be an https:// or data: URL in a string',
    ],
    [{ image: 'x' }, 'image is not supported in JSON: send images'],
    [{ mask: { image_url: 'x' } }, 'mask is not supported: the whole picture is painted'],
    [{ input_fidelity: 'high' }, 'input_fidelity must be "low": reference_mode "exact_product" keeps'],
    [{ markup: 'x' }, 'markup is not supported.'],
  ])('of %j is refused: %s', (changes, problem) => {
    expect(edit(changes).problem).toContain(problem);
  });
});

describe('what has no meaning here is refused by its name:', () => {
  test.each<[object, string]>([
    [
      { quality: 'ultra' },
      'quality must be "auto", "standard", "hd", "low", "medium", "high", "xhigh" or "max".',
    ],
    [{ style: 'anime' }, 'style must be "vivid" or "natural".'],
    [{ output_compression: 50 }, 'output_compression must be 100.'],
    [{ mask: 'x' }, 'mask is not supported: the whole picture is painted'],
    [{ image: ['x'] }, 'image is not supported: POST /images/edits takes reference images.'],
    [{ messages: [] }, 'messages is not supported: say what to paint in prompt.'],
    [{ size: '1024' }, 'size must be "auto" or a width and a height, as "1024x1024".'],
    [{ size: `${'9'.repeat(10)}x512` }, 'size must be'],
    [{ response_format: 'file' }, 'response_format must be "url" or "b64_json".'],
    [{ stream: 'true' }, 'stream must be true or false.'],
    [{ partial_images: 4 }, 'partial_images must be an integer from 0 to 3.'],
    [
      { stream: true, response_format: 'url' },
      'response_format must be left out or "b64_json" where stream is true.',
    ],
    [{ aspect_ratio: '1:1' }, 'unknown member "aspect_ratio".'],
    // Names of ours that have others here.
    [{ identityId: 'x' }, 'unknown member "identityId".'],
  ])('%j: %s', (changes, problem) => {
    expect(translated(changes).problem).toContain(problem);
  });

  test('all of it at once', () => {
    const wrong = { stream: true, response_format: 'url', background: 'transparent', mask: 'x' };
    const { problem, ignored } = translated({ user: 'u', ...wrong });
    for (const name of ['response_format', 'background', 'mask']) expect(problem).toContain(name);
    expect(ignored).toEqual([]);
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
