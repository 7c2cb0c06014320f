import { expect, test } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import type { Schema } from '../../../shared/openapi/schemas.ts';

/** Every rule of Redocly's, but those that ask for what this API is not. */
const config = createConfig({
  extends: ['all'],
  rules: {
    // Whom to ask is up to whoever runs the service, and the document is the same everywhere.
    'info-contact': 'off',
    // Tags, and the operations in them, stand in the order in which somebody new needs them.
    'tags-alphabetical': 'off',
    'path-http-verbs-order': 'off',
    // The specification names the paths and the shape of errors.
    'path-segment-plural': 'off',
    'operation-4xx-problem-details-rfc7807': 'off',
    // Generations can be answered as event streams.
    'response-mime-type': { severity: 'error', allowedValues: ['application/json', 'text/event-stream'] },
    // Bodies and answers have whole examples; one for each member would say the same again.
    'scalar-property-missing-example': 'off',
    // A dry run goes by its usual name.
    'boolean-parameter-prefixes': 'off',
    // Enums, patterns and formats rule; an empty prompt is allowed.
    'required-string-property-missing-min-length': 'off',
  },
} as object);

/** What the linter says of the document, warnings too. */
async function problems(document: Schema): Promise<string[]> {
  const source = JSON.stringify(document);
  const found = await lintFromString({ source, absoluteRef: '/openapi.json', config: await config });
  return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
}

test("Redocly's rules find nothing in the document", async () => {
  expect(await problems(openApiDocument())).toEqual([]);
});

test('and would find what is wrong', async () => {
  const document = openApiDocument();
  document.paths['/health'].get.responses[200].content['application/json'].example.status = 5;
  delete document.paths['/keys'].get.summary;
  const found = (await problems(document)).map((problem) => problem.split(':')[0]);
  expect([...new Set(found)].sort()).toEqual(['no-invalid-media-type-examples', 'operation-summary']);
});
