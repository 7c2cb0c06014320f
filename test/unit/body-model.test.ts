import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ServiceError } from '../../shared/errors.ts';
import { readJsonBody, readRequest } from '../../shared/http/request.ts';
import { planGeneration } from '../../shared/workflow/plan-generation.ts';
import { anyBodyCase, catalog, identities, type BodyCase } from '../support/body-cases.ts';
import { parameterNames, textOf, verdictOf, type SentBody, type Verdict } from '../support/body-model.ts';
import { sampleLicense } from '../support/unit-samples.ts';

/** What the service makes of a body: the refusal, or how many reference images it went on to prepare. */
async function decide({
  sent,
  tier,
}: BodyCase): Promise<{ refusal: ServiceError | null; references: number }> {
  let references = 0;
  try {
    const body = readJsonBody(requestOf(sent));
    await planGeneration(
      {
        license: { ...sampleLicense, tier },
        body,
        identity: identities.find(({ identityId }) => identityId === body.identityId) ?? null,
        problems: [],
      },
      async (items) => void (references = items.length),
    );
    return { refusal: null, references };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { refusal: error, references };
  }
}

function requestOf(sent: SentBody) {
  const { contentEncoding } = sent;
  const headers: Record<string, string[]> =
    contentEncoding === null ? {} : { 'Content-Encoding': [contentEncoding] };
  const event = { httpMethod: 'POST', body: textOf(sent), multiValueHeaders: headers };
  return readRequest(event as never, 'id', 0);
}

/** Parameters that are right must not be blamed; the two of reference images are told of in one breath. */
function wronglyBlamed(sentence: string, { named }: Verdict): string[] {
  const isNamed = (name: string) => new RegExp(`(?<![A-Za-z])${name}(?![A-Za-z])`).test(sentence);
  const isWrong = (name: string) => named.some((place) => place.includes(name));
  return parameterNames.filter((name) => isNamed(name) && !isWrong(name));
}

const runs = 10_000;

test('every body gets the verdict of the specification, with each wrong field named and no other', async () => {
  const seen = new Map<string, number>();
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(anyBodyCase, async (bodyCase) => {
      const verdict = verdictOf(bodyCase.sent, bodyCase.tier, catalog);
      const { refusal, references } = await decide(bodyCase);
      count(verdict.code ?? 'accepted');
      count(['right', 'one wrong'][bodyCase.faults] ?? 'several wrong');
      expect(refusal?.code ?? null).toBe(verdict.code);
      expect(references).toBe(verdict.references);
      const sentence = refusal?.message ?? '';
      expect(verdict.named.filter((name) => !sentence.includes(name))).toEqual([]);
      if (verdict.code === 'INVALID_PARAMETERS' || verdict.code === 'TIER_LIMIT') {
        expect(wronglyBlamed(sentence, verdict)).toEqual([]);
      }
    }),
    { numRuns: runs },
  );
  const least: Record<string, number> = {
    right: 0.25,
    'one wrong': 0.25,
    'several wrong': 0.25,
    accepted: 0.2,
    INVALID_PARAMETERS: 0.2,
    TIER_LIMIT: 0.03,
    INVALID_BODY: 0.02,
    MISSING_IDENTITY: 0.005,
    IDENTITY_NOT_FOUND: 0.02,
    IDENTITY_MISMATCH: 0.002,
    PAYLOAD_TOO_LARGE: 0.001,
  };
  console.log(JSON.stringify(Object.fromEntries(seen)));
  const scarce = Object.entries(least).filter(([what, share]) => (seen.get(what) ?? 0) < share * runs);
  expect(scarce).toEqual([]);
}, 300_000);
