import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { describeIssues } from '../../../shared/contracts/fields.ts';
import { createGenerationBody } from '../../../shared/contracts/generation.ts';

/** Reads JSON as it comes over the wire, so that 1e400, -0 and `__proto__` are what they are there. */
function parse(json: string) {
  return createGenerationBody.safeParse(JSON.parse(json));
}

const rest = '"identityId": "idn_1", "prompt": "a lighthouse"';
const withMember = (name: string, json: string) =>
  name === 'prompt' ? `{"identityId": "idn_1", "prompt": ${json}}` : `{${rest}, "${name}": ${json}}`;

function accepted(json: string): Record<string, unknown> {
  const result = parse(json);
  expect(result.error?.issues).toBeUndefined();
  return result.data!;
}

function refused(json: string): string {
  const result = parse(json);
  expect(result.success).toBe(false);
  return describeIssues(result.error!.issues);
}

test('every optional field has the default of the specification and the decisions', () => {
  expect(accepted(`{${rest}}`)).toEqual({
    identityId: 'idn_1',
    prompt: 'a lighthouse',
    negativePrompt: '',
    numInferenceSteps: 30,
    guidanceScale: 7.5,
    numOutputs: 1,
    width: 1024,
    height: 1024,
    outputFormat: 'png',
    referenceImages: [],
    referenceMode: 'reference',
    preserveBranding: false,
  });
});

test('a seed that was not sent stays absent, for the server to choose', () => {
  expect(accepted(`{${rest}}`)).not.toHaveProperty('seed');
});

describe('each field takes the values up to its edges', () => {
  test.each([
    ['seed', '0', 0],
    ['seed', '4294967295', 4294967295],
    ['seed', '42.0', 42],
    ['seed', '4e2', 400],
    ['numInferenceSteps', '20', 20],
    ['numInferenceSteps', '50', 50],
    ['numInferenceSteps', '30.0', 30],
    ['guidanceScale', '1', 1],
    ['guidanceScale', '20', 20],
    ['guidanceScale', '1.0000001', 1.0000001],
    ['guidanceScale', '19.999', 19.999],
    ['numOutputs', '1', 1],
    ['numOutputs', '4', 4],
    ['width', '512', 512],
    ['width', '576', 576],
    ['width', '2048', 2048],
    ['height', '512', 512],
    ['height', '2048.0', 2048],
    ['outputFormat', '"png"', 'png'],
    ['outputFormat', '"webp"', 'webp'],
    ['outputFormat', '"jpeg"', 'jpeg'],
    ['referenceMode', '"exact_product"', 'exact_product'],
    ['referenceMode', '"reference"', 'reference'],
    ['preserveBranding', 'true', true],
    ['preserveBranding', 'false', false],
    ['negativePrompt', '""', ''],
    ['prompt', '"x"', 'x'],
  ])('%s: %s', (field, json, value) => {
    expect(accepted(withMember(field, json))[field]).toEqual(value);
  });

  test('a seed of -0 is taken, as the number zero', () => {
    expect(Number(accepted(withMember('seed', '-0')).seed) + 0).toBe(0);
  });

  test('what only the tier limits is left to the tier: more outputs and larger sizes pass here', () => {
    expect(accepted(withMember('numOutputs', '5')).numOutputs).toBe(5);
    expect(accepted(withMember('width', '2112')).width).toBe(2112);
    expect(accepted(withMember('height', '64000')).height).toBe(64000);
  });

  test('white space around a prompt belongs to it', () => {
    expect(accepted(withMember('prompt', '" a\\nb "')).prompt).toBe(' a\nb ');
  });
});

describe('each field refuses one past its edges, naming itself and no other', () => {
  test.each([
    ['seed', '-1'],
    ['seed', '4294967296'],
    ['seed', '1.5'],
    ['numInferenceSteps', '19'],
    ['numInferenceSteps', '51'],
    ['numInferenceSteps', '30.5'],
    ['guidanceScale', '0.9999999'],
    ['guidanceScale', '20.0000001'],
    ['guidanceScale', '0'],
    ['guidanceScale', '-7.5'],
    ['numOutputs', '0'],
    ['numOutputs', '-1'],
    ['numOutputs', '-0'],
    ['numOutputs', '1.5'],
    ['width', '448'],
    ['width', '511'],
    ['width', '513'],
    ['width', '544'],
    ['width', '575'],
    ['width', '1000'],
    ['width', '0'],
    ['width', '-512'],
    ['width', '512.5'],
    ['height', '448'],
    ['height', '1023'],
    ['height', '1025'],
    ['height', '1056'],
    ['outputFormat', '"PNG"'],
    ['outputFormat', '"jpg"'],
    ['outputFormat', '"image/png"'],
    ['outputFormat', '"toString"'],
    ['outputFormat', '""'],
    ['referenceMode', '"Exact_Product"'],
    ['referenceMode', '""'],
    ['prompt', '""'],
  ])('%s: %s', (field, json) => expect(fieldsNamedIn(refused(withMember(field, json)))).toEqual([field]));
});

const numbers = ['seed', 'numInferenceSteps', 'guidanceScale', 'numOutputs', 'width', 'height'];
const texts = ['prompt', 'negativePrompt', 'outputFormat', 'referenceMode'];
const allFields = [...numbers, ...texts, 'preserveBranding', 'referenceImages'];

function fieldsNamedIn(message: string): string[] {
  return allFields.filter((field) => new RegExp(`(?<![A-Za-z])${field}(?![A-Za-z])`).test(message));
}

describe('each field refuses the wrong type, naming itself', () => {
  const cases = allFields.flatMap((field) => {
    const own = numbers.includes(field) ? 'number' : texts.includes(field) ? 'string' : field;
    const others = ['null', '{}', '{"0": 1}'];
    if (own !== 'number') others.push('1', '0', '1e400');
    if (own === 'number') others.push('"30"', '"1024"', '"1"', '"NaN"', '1e400', '-1e400');
    if (own !== 'string' && own !== 'number') others.push('"true"', '"false"', '""');
    if (own !== 'preserveBranding') others.push('true', 'false');
    if (own !== 'referenceImages') others.push('[]', '[1024]', '["reference"]');
    return others.map((json) => [field, json] as const);
  });

  test.each(cases)('%s: %s', (field, json) => {
    expect(fieldsNamedIn(refused(withMember(field, json)))).toEqual([field]);
  });
});

describe('lengths count code points', () => {
  test.each([
    ['prompt', 1000],
    ['negativePrompt', 500],
  ])('%s takes %i characters and refuses one more', (field, max) => {
    for (const character of ['a', 'é', '語', '😀', '\u{10ffff}']) {
      const text = character.repeat(max);
      expect(accepted(withMember(field, JSON.stringify(text)))[field]).toBe(text);
      expect(refused(withMember(field, JSON.stringify(text + character)))).toContain(`${field} must be`);
      expect(refused(withMember(field, JSON.stringify(`${text}a`)))).toContain(String(max));
    }
  });

  test('a prompt of any mix is taken up to 1000 code points and refused above', () => {
    const mix = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 40 })
      .filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(mix, fc.integer({ min: 990, max: 1010 }), (text, length) => {
        const clean = text.toWellFormed().replaceAll('\0', '.');
        const prompt = Array.from({ length }, (_, i) => [...clean][i % [...clean].length]).join('');
        expect(parse(withMember('prompt', JSON.stringify(prompt))).success).toBe(length <= 1000);
      }),
    );
  });

  test('a text of a megabyte is refused without being echoed', () => {
    expect(refused(withMember('prompt', JSON.stringify('x'.repeat(1_000_000)))).length).toBeLessThan(200);
  });
});

describe('a string with a lone surrogate or a NUL is refused', () => {
  const unclean = [
    ['a lone high surrogate', '\\ud83d'],
    ['a lone low surrogate', '\\ude00'],
    ['surrogates in the wrong order', '\\ude00\\ud83d'],
    ['a NUL', '\\u0000'],
  ] as const;

  describe.each(['prompt', 'negativePrompt'])('in %s', (field) => {
    test.each(unclean)('%s', (_what, escape) => {
      const message = refused(withMember(field, `"a${escape}b"`));
      expect(fieldsNamedIn(message)).toEqual([field]);
      // Refusing is useful only when the message itself can be shown anywhere.
      expect(message).toMatch(/^[ -~]*$/);
    });
  });

  test.each(unclean)('%s in the url of a reference image', (_what, escape) => {
    const message = refused(withMember('referenceImages', `[{"url": "https://a.example/${escape}"}]`));
    expect(message).toContain('referenceImages[0].url');
  });

  test.each(unclean)('%s in the uploadId of a reference image', (_what, escape) => {
    const message = refused(withMember('referenceImages', `[{"uploadId": "a${escape}"}]`));
    expect(message).toContain('referenceImages[0].uploadId');
  });

  test('a proper pair of surrogates is a character like any other', () => {
    expect(accepted(withMember('prompt', '"\\ud83d\\ude00"')).prompt).toBe('😀');
  });
});

test.each([
  ['width', 2 ** 53],
  ['height', 1e300],
  ['numOutputs', 1e300],
])('%s = %p is a size, for the tier to refuse', (name, value) => {
  const body = { identityId: 'idn_a', prompt: 'x', [name]: value };
  expect(createGenerationBody.safeParse(body).success).toBe(true);
});
