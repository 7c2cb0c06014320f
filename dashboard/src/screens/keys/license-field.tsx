import type { KeyAnswer, LicenseAnswer } from '@/api/types.ts';
import { Field } from '@/components/field.tsx';
import { Select, SelectContent, SelectItem, SelectTrigger, SelectValue } from '@/components/ui/select.tsx';
import { formatCount, shortId } from '@/lib/format.ts';
import { licenseProblem } from '@/license/license-badge.tsx';
import { activeKeysOf } from './key-view.ts';

interface LicenseFieldProps {
  licenses: LicenseAnswer[];
  keys: KeyAnswer[];
  nowMs: number;
  value: string;
  error: string | null;
  onChange: (licenseId: string) => void;
}

/** Which license a new key spends the credits of; those that can't have keys are there, with the reason. */
export function LicenseField({ licenses, keys, nowMs, value, error, onChange }: LicenseFieldProps) {
  return (
    <Field label="License" error={error} hint="The key uses the credits and the identities of this license.">
      {(control) => (
        <Select value={value} onValueChange={onChange}>
          <SelectTrigger {...control}>
            <SelectValue placeholder="None of your licenses can have keys" />
          </SelectTrigger>
          <SelectContent>
            {licenses.map((license) => (
              <SelectItem key={license.licenseId} value={license.licenseId} disabled={!license.usable}>
                {license.tier} <span className="text-muted-foreground">{shortId(license.licenseId)}</span>
                <span className="text-muted-foreground">
                  {' · '}
                  {licenseProblem(license) ??
                    formatCount(activeKeysOf(keys, license.licenseId, nowMs), 'active key')}
                </span>
              </SelectItem>
            ))}
          </SelectContent>
        </Select>
      )}
    </Field>
  );
}
