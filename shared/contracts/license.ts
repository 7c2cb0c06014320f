export const licenseStatuses = ['active', 'past_due', 'ended'] as const;
export type LicenseStatus = (typeof licenseStatuses)[number];

/** An access record as its owner sees it: an item of GET /licenses. */
export interface LicenseAnswer {
  licenseId: string;
  /** The tier's label. */
  tier: string;
  status: LicenseStatus;
  /** Whether it generates now and may have keys: active, with API access, and not past its end. */
  usable: boolean;
  apiAccess: boolean;
  foundingCatalog: boolean;
  /** Identities that are granted beside the founding catalog. */
  identityIds: string[];
  creditsLimit: number;
  /** Per request. */
  maxOutputs: number;
  /** Pixels of width and of height. */
  maxSidePx: number;
  /** ISO 8601 UTC. */
  billingPeriodStart: string;
  billingPeriodEnd: string;
  activeUntil: string | null;
  createdAt: string;
}

/** The answer of GET /licenses, oldest first. */
export interface LicenseList {
  licenses: LicenseAnswer[];
}
