/** The service's own contracts, as types only: nothing of the service is bundled. */
export type * from '../../../shared/contracts/generation.ts';
export type { LicenseAnswer, LicenseList, LicenseStatus } from '../../../shared/contracts/license.ts';
export type {
  UsageAggregates,
  UsageAnswer,
  UsageHistoryItem,
  UsageStats,
  UsageTally,
} from '../../../shared/contracts/usage.ts';
export type {
  CreatedKey,
  CreateKeyBody,
  KeyAnswer,
  KeyList,
  KeyStatus,
  RevokedKey,
} from '../../../shared/contracts/api-key.ts';
export type { IdentityAnswer, IdentityList } from '../../../shared/contracts/identity.ts';
export type { UploadAnswer } from '../../../shared/contracts/upload.ts';
export type { DashboardConfig } from '../../../shared/contracts/dashboard.ts';
