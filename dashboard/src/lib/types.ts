/** The service's own contracts, as types only. */
export type * from '../../../shared/base/generation-kinds.ts';
export type { OutputFormat } from '../../../shared/images/image-types.ts';
export type * from '../../../shared/generations/contract.ts';
export type * from '../../../shared/generations/answer-contract.ts';
export type { LicenseAnswer } from '../../../shared/licenses/contract.ts';
export type {
  UsageAggregates,
  UsageAnswer,
  UsageHistoryItem,
  UsageStats,
  UsageTally,
} from '../../../shared/licenses/usage-contract.ts';
export type { ChangeKeyBody, CreateKeyBody } from '../../../shared/keys/contract.ts';
export type * from '../../../shared/keys/answer-contract.ts';
export type { ActivityItem, ActivityList } from '../../../shared/licenses/activity-contract.ts';
export type { RefusalDay, RefusedRequestAnswer } from '../../../shared/limits/contract.ts';
export type { IdentityAnswer, IdentityDetail } from '../../../shared/identities/contract.ts';
export type { DashboardConfig, PlanCard } from '../../../shared/accounts/dashboard-config.ts';
