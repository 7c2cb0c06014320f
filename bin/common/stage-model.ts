import { GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3';

/** What a stage's model server generates with, by the files that its instances start from. */
export interface StageModel {
  /** As in every image: `name@digest`; null where packaging wrote no `model.json`. */
  version: string | null;
  /** The class of its pipeline; null for an engine of the operator's own. */
  pipeline: string | null;
}

/** @param modelData an S3 prefix, as `modelData` of the configuration has it */
export async function readStageModel(modelData: string): Promise<StageModel> {
  const [, bucket, prefix] = /^s3:\/\/([^/]+)\/(.*)$/.exec(modelData)!;
  const client = new S3Client({});
  const read = async (name: string): Promise<Record<string, unknown>> => {
    try {
      const target = { Bucket: bucket, Key: `${prefix}${name}` };
      const { Body } = await client.send(new GetObjectCommand(target));
      return JSON.parse((await Body?.transformToString()) ?? '{}') as Record<string, unknown>;
    } catch (error) {
      if (error instanceof NoSuchKey) return {};
      throw error;
    }
  };
  try {
    const [{ name, digest }, { _class_name: pipeline }] = await Promise.all([
      read('model.json'),
      read('model_index.json'),
    ]);
    return {
      version: name && digest ? `${String(name)}@${String(digest).slice(0, 12)}` : null,
      pipeline: typeof pipeline === 'string' ? pipeline : null,
    };
  } finally {
    client.destroy();
  }
}
