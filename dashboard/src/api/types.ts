import type { Api } from './client.ts';

/** The service's own contracts, as types only. */
export type * from '../../../shared/contracts/generation.ts';
export type * from '../../../shared/contracts/generation-answers.ts';
export type { LicenseAnswer } from '../../../shared/contracts/license.ts';
export type {
  UsageAggregates,
  UsageAnswer,
  UsageHistoryItem,
  UsageStats,
  UsageTally,
} from '../../../shared/contracts/usage.ts';
export type { ChangeKeyBody, CreateKeyBody } from '../../../shared/contracts/api-key.ts';
export type * from '../../../shared/contracts/api-key-answers.ts';
export type { ActivityItem, ActivityList } from '../../../shared/contracts/activity.ts';
export type { RefusalDay } from '../../../shared/contracts/refusals.ts';
export type { IdentityAnswer } from '../../../shared/contracts/identity.ts';
export type { DashboardConfig } from '../../../shared/contracts/dashboard.ts';

export interface UploadOptions {
  licenseId: string;
  file: File;
  contentType: 'image/png' | 'image/jpeg' | 'image/webp';
  /** Called with the part that is sent, from 0 to 1. */
  onProgress: (share: number) => void;
  signal: AbortSignal;
}

/**
 * Uploads one file for a license.
 * @returns the upload's id for `referenceImages`. It can be used for an hour.
 * @throws ApiError, and the signal's reason when it was aborted.
 */
export type UploadFile = (api: Api, options: UploadOptions) => Promise<string>;
