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
  const several = await play({ from: 1, count: 3, mutant: null });
  expect(new Set(several.map(({ fingerprint }) => fingerprint)).size).toBe(3);
  const [broken, alone, unharmed, ...others] = await play(
    // The game ends with the first seed that breaks an invariant.
    { from: 1, count: 2, mutant: 'charge-before-settle' },
    { from: 3, count: 1, mutant: null },
    { from: 1, count: 1, mutant: 'refund-counts-twice' },
  );
  expect(others).toEqual([]);
  expect([broken!.seed, broken!.violations[0]]).toEqual([1, expect.stringMatching(/but 0 were charged/)]);
  expect(alone!.fingerprint).toBe(several[2]!.fingerprint);
  // With this seed nobody meets that mutant, and none is left of the one before.
  expect(unharmed!.fingerprint).toBe(several[0]!.fingerprint);
}, 120_000);

test.each(mutants)('the mutant $name changes a place that is in the source once', (mutant) => {
  for (const { file } of mutant.changes) expect(mutate(inRepository(file), mutant)).not.toBeNull();
});

test.each([DynamoDBClient, S3Client, SageMakerRuntimeClient])(
  'the network of %p is the copy of the package whose network a simulation takes',
  (Client) => {
    expect(new Client({ region: 'eu-west-1' }).config.requestHandler).toBeInstanceOf(NodeHttpHandler);
  },
);
