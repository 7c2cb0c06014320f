import { counted } from './counted.ts';

/** The load on the service. */
export interface Workload {
  generationsPerMonth: number;
  /** GPU time for one megapixel of one image. */
  secondsPerMegapixel: number;
  megapixels: number;
  outputs: number;
  imageBytes: number;
  /** How often each image is opened, over its whole life. */
  viewsPerImage: number;
  /** Accounts that sign in within a month. */
  accounts: number;
  /** Share of the generations that are asked for with `Prefer: respond-async`. */
  asyncShare: number;
  /** Images that somebody asks for one after another. */
  imagesPerSitting: number;
  /** Of the model's instance, US dollars. @default the price that is known for its type */
  instancePerHour?: number;
}

export const defaultWorkload = {
  generationsPerMonth: 10_000,
  secondsPerMegapixel: 12,
  megapixels: 1,
  outputs: 1,
  viewsPerImage: 2,
  accounts: 100,
  asyncShare: 0.1,
  imagesPerSitting: 5,
};

/** Default bytes of an image: those of the local painter. */
export function usualImageBytes(megapixels: number): number {
  return Math.round(counted.pngBytesPerMegapixel * megapixels);
}

/** Assumptions that can't be counted before the service runs. */
export const assumptions = {
  overheadSeconds: {
    value: 0.3,
    meaning:
      'seconds of a function beside the model: the checks, the reservation, the settlement, a share of cold starts',
  },
  asyncWaitSeconds: {
    value: 20,
    meaning:
      'seconds that a worker waits for a busy model, on average; waiting for one that wakes is computed',
  },
  sweepSeconds: { value: 0.1, meaning: 'seconds of one run of the sweep' },
  scalingUtilization: {
    value: 0.7,
    meaning: 'share of the time that an instance paints, where more than the fewest are needed',
  },
  wakingMinutes: {
    value: 10,
    meaning: 'minutes from the call that wakes a sleeping model until it paints, paid like any others',
  },
  leavingMinutes: {
    value: 10,
    meaning: 'minutes for which the instance stays, and is paid, after its model has gone to sleep',
  },
  sittingPauseMinutes: { value: 1, meaning: 'minutes between two images of a sitting' },
  logCompression: { value: 0.15, meaning: 'what is left of a log once CloudWatch has compressed it' },
  visitsPerAccount: {
    value: 20,
    meaning: 'visits of the dashboard by an account that signs in, a month',
  },
  requestsPerVisit: { value: 15, meaning: 'files of the dashboard that a visit loads or asks for' },
  bytesPerVisit: { value: 300_000, meaning: 'bytes of the dashboard that a visit loads, compressed' },
  pollsPerMinute: {
    value: 15,
    meaning: "Lambda's own requests for messages of an empty queue, a minute: five pollers, 20 seconds each",
  },
} as const;

export const hoursPerMonth = 730;
export const daysPerMonth = hoursPerMonth / 24;
/** Bytes of AWS's GB. */
export const gigabyte = 2 ** 30;
