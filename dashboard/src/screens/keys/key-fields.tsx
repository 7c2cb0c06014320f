import type { RefObject } from 'react';
import type { LicenseAnswer } from '@/lib/types.ts';
import { Field } from '@/components/field.tsx';
import { Input } from '@/components/ui/input.tsx';
import { formatUtcDate } from '@/lib/format.ts';
import { maxNameLength, nameLength } from './key-form.ts';
import { CircleAlert } from 'lucide-react';
import { ApiError } from '@/api/api-error.ts';
import { Alert } from '@/components/ui/alert.tsx';

interface KeyFieldProps {
  value: string;
  error: string | null;
  input: RefObject<HTMLInputElement | null>;
  onChange: (value: string) => void;
  /** The field was left. */
  onLeave: () => void;
}

export function NameField({ value, error, input, onChange, onLeave }: KeyFieldProps) {
  return (
    <Field
      label="Name"
      error={error}
      hint="The program or the person that will use it."
      aside={`${nameLength(value)} of ${maxNameLength}`}
    >
      {(control) => (
        <Input
          {...control}
          ref={input}
          required
          autoComplete="off"
          placeholder="my app"
          value={value}
          onChange={(event) => onChange(event.target.value)}
          onBlur={onLeave}
        />
      )}
    </Field>
  );
}

interface BudgetFieldProps extends KeyFieldProps {
  /** The key's, where it is known. */
  license: Pick<LicenseAnswer, 'billingPeriodEnd'> | undefined;
}

export function BudgetField({ license, value, error, input, onChange, onLeave }: BudgetFieldProps) {
  const end = license === undefined ? '' : `, on ${formatUtcDate(license.billingPeriodEnd)}`;
  return (
    <Field
      label="Monthly budget in credits (optional)"
      error={error}
      hint={`Empty for no budget. Requests over it are refused with error 429 until the license's period ends${end}. Then the budget begins anew.`}
    >
      {(control) => (
        <Input
          {...control}
          ref={input}
          inputMode="numeric"
          autoComplete="off"
          placeholder="No budget"
          value={value}
          onChange={(event) => onChange(event.target.value)}
          onBlur={onLeave}
        />
      )}
    </Field>
  );
}

interface ProblemProps {
  error: unknown;
  advise: (error: ApiError) => string | null;
}

/** A refusal inside a dialog: the API's sentence, what to do, and the request's id. */
export function Problem({ error, advise }: ProblemProps) {
  const known = error instanceof ApiError ? error : null;
  const advice = known && advise(known);
  return (
    <Alert
      role="alert"
      variant="destructive"
      icon={CircleAlert}
      title={known?.message ?? 'Something on this page went wrong.'}
    >
      {advice !== null && <p>{advice}</p>}
      {known?.requestId !== undefined && (
        <p className="text-xs">
          Request id <code className="wrap-anywhere">{known.requestId}</code>
        </p>
      )}
    </Alert>
  );
}
