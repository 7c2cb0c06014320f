import { expect, test } from '@jest/globals';
import { driftedFiles, generatedFiles } from '../../../bin/openapi.ts';

test('the document and the client’s types that are checked in are what the code says', async () => {
  const expected = await generatedFiles();
  expect(Object.keys(expected)).toEqual(['docs/openapi.json', 'client/src/openapi.ts']);
  // Should this fail: npm run openapi -- --write
  expect(await driftedFiles(expected)).toEqual([]);
  for (const [path, text] of Object.entries(expected)) {
    expect(await driftedFiles({ [path]: `${text} ` })).toEqual([path]);
  }
  expect(await driftedFiles({ 'docs/missing.json': '' })).toEqual(['docs/missing.json']);
});
