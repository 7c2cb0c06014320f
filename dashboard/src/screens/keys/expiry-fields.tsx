import type { RefObject } from 'react';
import { Field } from '@/components/field.tsx';
import { Input } from '@/components/ui/input.tsx';
import { Select, SelectContent, SelectItem, SelectTrigger, SelectValue } from '@/components/ui/select.tsx';
import { formatDateTime } from '@/lib/format.ts';
import { controlTime, expiresAt, expiryChoices, type ExpiryChoice } from './key-form.ts';
import type { KeyForm } from './use-key-form.ts';

const minuteMs = 60_000;

interface ExpiryFieldsProps {
  form: KeyForm;
  nowMs: number;
  customTime: RefObject<HTMLInputElement | null>;
}

export function ExpiryFields({ form, nowMs, customTime }: ExpiryFieldsProps) {
  const { values, problems } = form;
  const custom = values.expiry === 'custom';
  const choose = (expiry: ExpiryChoice): void => {
    const start = controlTime(Date.parse(expiresAt({ ...values, expiry: '30-days' }, nowMs) ?? ''));
    form.set({ expiry, ...(expiry === 'custom' && values.customTime === '' && { customTime: start }) });
  };
  return (
    <>
      <Field label="Expires" hint={custom ? undefined : ending(expiresAt(values, nowMs))}>
        {(control) => (
          <Select value={values.expiry} onValueChange={(value) => choose(value as ExpiryChoice)}>
            <SelectTrigger {...control}>
              <SelectValue />
            </SelectTrigger>
            <SelectContent>
              {Object.entries(expiryChoices).map(([value, label]) => (
                <SelectItem key={value} value={value}>
                  {label}
                </SelectItem>
              ))}
            </SelectContent>
          </Select>
        )}
      </Field>
      {custom && (
        <Field label="Date and time" error={problems.customTime} hint={`In your time zone, ${timeZone()}.`}>
          {(control) => (
            <Input
              {...control}
              ref={customTime}
              type="datetime-local"
              required
              min={controlTime(nowMs + minuteMs)}
              max="9998-12-31T23:59"
              value={values.customTime}
              onChange={(event) => form.set({ customTime: event.target.value })}
              onBlur={() => form.leave('customTime')}
            />
          )}
        </Field>
      )}
    </>
  );
}

function ending(iso: string | null): string {
  return iso === null ? 'It works until you revoke it.' : `It is refused from ${formatDateTime(iso)} on.`;
}

function timeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll('_', ' ');
}
