import type { LicenseAnswer } from '@/api/types.ts';
import { Badge } from '@/components/ui/badge.tsx';

/** Why a license does not generate now; nothing for one that does. */
export function LicenseBadge({ license }: { license: LicenseAnswer }) {
  const problem = licenseProblem(license);
  if (problem === null) return null;
  return <Badge variant={license.status === 'past_due' ? 'warning' : 'default'}>{problem}</Badge>;
}

export function licenseProblem({ status, usable, apiAccess }: LicenseAnswer): string | null {
  if (status === 'past_due') return 'Past due';
  if (status === 'ended') return 'Ended';
  if (usable) return null;
  return apiAccess ? 'Ended' : 'No API access';
}
