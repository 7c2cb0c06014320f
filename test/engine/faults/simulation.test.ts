import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { expect, test } from '@jest/globals';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { mutants, mutate } from '../../faults/mutants.ts';
import { playGames, type Game, type SeedReport } from '../../faults/play-games.ts';
import { inRepository } from '../../support/repository.ts';

/** In a process of its own: a simulation takes its process's clock and chance. */
async function play(...games: Game[]): Promise<SeedReport[]> {
  const reports: SeedReport[] = [];
  await playGames(games, { workers: 1, gamesPerProcess: 9 }, (report) => reports.push(report));
  return reports;
}

test('a seed plays the same history in any process, whatever was played before it and with whatever mutant', async () => {
  const several = await play({ from: 1, count: 4, mutant: null });
  expect(new Set(several.map(({ fingerprint }) => fingerprint)).size).toBe(4);
  const others = await play(
    { from: 1, count: 4, mutant: 'charge-before-settle' },
    { from: 4, count: 1, mutant: null },
    { from: 1, count: 1, mutant: 'charge-told-as-refusal' },
  );
  const [broken, alone, unharmed] = others;
  // The play ends with the first world in which an invariant breaks.
  expect(others.map(({ seed, mutant }) => `${seed} ${mutant}`)).toEqual([
    '1 charge-before-settle',
    '4 null',
    '1 charge-told-as-refusal',
  ]);
  expect(broken!.violations[0]).toMatch(/but 0 were charged/);
  expect(alone!.fingerprint).toBe(several[3]!.fingerprint);
  // In this world nobody meets that mutant, and none is left of the one before.
  expect(unharmed!.fingerprint).toBe(several[0]!.fingerprint);
}, 120_000);

test.each(mutants)('the mutant $name changes a place that is in the source once', (mutant) => {
  for (const { file } of mutant.changes) expect(mutate(inRepository(file), mutant)).not.toBeNull();
});

test('a mutant whose place is gone is an error, and one of another file changes nothing', () => {
  const [mutant] = mutants;
  const [change] = mutant!.changes;
  const gone = { ...mutant!, changes: [{ ...change!, find: 'no such place' }] };
  expect(() => mutate(inRepository(change!.file), gone)).toThrow('is not once in');
  expect(mutate(inRepository('shared/base/config.ts'), mutant!)).toBeNull();
});

test.each([DynamoDBClient, S3Client, SageMakerRuntimeClient])(
  'the network of %p is the copy of the package whose network a simulation takes',
  (Client) => {
    expect(new Client({ region: 'eu-west-1' }).config.requestHandler).toBeInstanceOf(NodeHttpHandler);
  },
);
