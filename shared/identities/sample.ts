/** A picture that shows what an identity makes, chosen by the operator. */
export interface Sample {
  /** Made from the content of its files, which therefore never change. */
  sampleId: string;
  /** Of the picture; the thumbnail has the same shape. */
  widthPx: number;
  heightPx: number;
  /** The prompt that made it, which describes it to people who don't see it; null when the operator gave none. */
  prompt: string | null;
}

/** Of one identity. Every one is two links in each answer of GET /identities. */
export const maxSamples = 9;
export const maxSamplePromptCharacters = 500;
/** A Lambda function answers six megabytes at most, and a sample takes two kilobytes, or four with the longest prompt. */
const maxSamplesPerAnswer = 1000;

/** How many of each identity's samples an answer that lists so many identities has room for. */
export function samplesPerIdentity(identities: number): number {
  return Math.min(maxSamples, Math.floor(maxSamplesPerAnswer / identities));
}

/** The longest sides of the two files of a sample. */
export const samplePicturePx = 1024;
export const sampleThumbnailPx = 512;
