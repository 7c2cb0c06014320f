import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isForm, readForm } from '../../../shared/openai/form.ts';

const type = 'multipart/form-data; boundary=edge';
const part = (disposition: string, content = '') =>
  `--edge\r\nContent-Disposition: ${disposition}\r\n\r\n${content}\r\n`;
const read = (text: string, contentType = type) => readForm(Buffer.from(text, 'latin1'), contentType);
const uri = (bytes: Uint8Array) => ({ image_url: `data:;base64,${Buffer.from(bytes).toString('base64')}` });

test('what Node.js writes is read, byte for byte, whatever stands in it', async () => {
  // A form ends lines in its own way.
  const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll(/[\r\n]/g, ''));
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.uint8Array()), fc.nat(), async (prompt, files, n) => {
      const form = new FormData();
      for (const bytes of files) form.append('image[]', new Blob([bytes]), prompt);
      for (const [name, value] of Object.entries({ prompt, n, stream: true })) form.set(name, String(value));
      const sent = new Response(form);
      const contentType = sent.headers.get('content-type')!;
      const images = files.length > 0 ? { images: files.map(uri) } : {};
      const members = readForm(Buffer.from(await sent.arrayBuffer()), contentType);
      expect(members).toEqual({ prompt, n, stream: true, ...images });
    }),
  );
});

test('names may be quoted or not, and no file takes the place of another name', () => {
  const parts = [
    part("form-data; name=image; filename=a.png; filename*=utf-8''a.png", '1'),
    part('form-data; filename="; name=prompt"; name="image"', '\r\n--edg'),
    part('form-data; name="__proto__"', 'x'),
    part('form-data; name="mask"', '\x89PNG'),
    part('form-data; name="seed"', 'x'),
  ];
  const images = ['1', '\r\n--edg'].map((content) => uri(Buffer.from(content)));
  const proto = JSON.parse('{"__proto__":"x"}');
  const expected = { images, mask: [], seed: 'x', ...proto };
  Object.defineProperty(expected, '__proto__', { value: 'x', enumerable: true });
  expect(read(`${parts.join('')}--edge--\r\n`, 'Multipart/Form-Data; charset=x; boundary="edge"')).toEqual(
    expected,
  );
  expect(['multipart/form-data', 'multipart/form-datas', 'application/json', undefined].map(isForm)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

const prompt = part('form-data; name="prompt"', 'x');
describe('a body is refused that', () => {
  test.each<[what: string, text: string, contentType?: string]>([
    ['is empty', ''],
    ['has no end', prompt],
    ['has text before its parts', `x\r\n${prompt}--edge--`],
    ['has more behind a boundary', `${prompt}--edges\r\n\r\n--edge--`],
    ['has a part without a name', `${part('form-data; filename="name=x"')}--edge--`],
    ['has a part that is no member', `${part('attachment; name="x"')}--edge--`],
    ['has a long header', `${part(`form-data; name="${'x'.repeat(4096)}"`)}--edge--`],
    ['has a member twice', `${prompt}${prompt}--edge--`],
    ['has images beside images', `${part('form-data; name=images')}${part('form-data; name=image')}--edge--`],
    [
      'has many parts',
      `${Array.from({ length: 41 }, (_, i) => part(`form-data; name="${i}"`)).join('')}--edge--`,
    ],
    ['does not say its boundary', `${prompt}--edge--`, 'multipart/form-data'],
  ])('%s', (_what, text, contentType = type) => {
    expect(() => read(text, contentType)).toThrow(expect.objectContaining({ code: 'INVALID_BODY' }));
  });
});
