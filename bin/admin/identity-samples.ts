import type { SampleFiles, SampleStore } from '../../shared/identities/sample-store.ts';
import type { Identity } from '../../shared/identities/identity.ts';
import { maxSamples, type Sample } from '../../shared/identities/sample.ts';
import { usageFailure } from '../common/failure.ts';
import type { Session } from './command.ts';

/** A change of an identity's samples, ready to be made. */
export interface SampleChange {
  /** Stores the files of the new samples. It changes nothing that anybody sees. */
  store(identityId: string): Promise<Sample[]>;
  /** Deletes files that the catalog does not name any more. */
  clean(before: readonly Sample[], after: Identity): Promise<void>;
}

/** The options of `identity put` for samples, as the parser leaves them. */
export interface SampleOptions {
  /** Files of pictures. They replace the samples that the identity has. */
  sample?: string[];
  /** What painted them, in their order. */
  samplePrompt?: string[];
  /** False: no samples. True by default. */
  samples: boolean;
}

/** @throws Failure when the options do not fit each other */
export function checkSampleOptions({ sample = [], samplePrompt, samples }: SampleOptions): void {
  if (!samples && sample.length > 0) throw usageFailure('--no-samples and --sample exclude each other.');
  if (sample.length > maxSamples) {
    throw usageFailure(`An identity has at most ${maxSamples} samples, not ${sample.length}.`);
  }
  if (samplePrompt !== undefined && samplePrompt.length !== sample.length) {
    throw usageFailure(
      'Give one --sample-prompt for each --sample, in the same order, or none at all: ' +
        `not ${samplePrompt.length} for ${sample.length}.`,
    );
  }
}

/**
 * Reads the files of the new samples.
 * @returns null where the options leave the samples as they are
 * @throws Failure when a file can't be used: then nothing was written
 */
export async function readSampleChange(
  { bucketName, nowMs, stores }: Session,
  { sample = [], samplePrompt = [], samples }: SampleOptions,
): Promise<SampleChange | null> {
  if (sample.length === 0 && samples) return null;
  if (bucketName === null) {
    throw usageFailure('Samples lie in the bucket of a stack: name the stack with --stack.');
  }
  const { readSampleFile } = await import('./sample-file.ts');
  const files: SampleFiles[] = [];
  // One after the other: a picture takes much memory while it is decoded.
  for (const [i, path] of sample.entries()) files.push(await readSampleFile(path, samplePrompt[i] ?? null));
  const store = await openSamples(bucketName);
  return {
    store: async (identityId) => unique(await Promise.all(files.map((one) => store.put(identityId, one)))),
    async clean(before, after) {
      // Read again, because another operator may have changed it meanwhile.
      const stored = await stores.identities.get(after.identityId);
      await store.deleteUnnamed(stored ?? after, before, nowMs);
      store.close();
    },
  };
}

async function openSamples(bucketName: string): Promise<SampleStore> {
  const { sampleStore } = await import('../../shared/identities/sample-store.ts');
  return sampleStore(bucketName);
}

/** A picture that was given twice is shown once. */
function unique(samples: Sample[]): Sample[] {
  return [...new Map(samples.map((sample) => [sample.sampleId, sample])).values()];
}
