import { useState, type ComponentProps, type RefObject } from 'react';
import type { LicenseAnswer } from '@/lib/types.ts';
import { Field } from '@/components/field.tsx';
import { Input } from '@/components/ui/input.tsx';
import { formatUtcDate } from '@/lib/format.ts';
import { useNow } from '@/lib/use-now.ts';
import { choicesOf, Select } from '@/components/ui/select.tsx';
import { accessChoices, maxNameLength, nameLength, type KeyAccess } from './key-form.ts';

/** Of each field, a sentence for what is wrong with it. */
type Problems<Field extends string> = Record<Field, string | null>;

/**
 * What is entered, and the problems of the fields that were left. A problem that is shown goes as soon as it is solved;
 * a new one is shown when its field is left.
 */
export function useForm<Values extends object, Field extends string>(
  initial: () => Values,
  problemsOf: (values: Values, nowMs: number) => Problems<Field>,
) {
  const [values, setValues] = useState(initial);
  const [shown, setShown] = useState<readonly Field[]>([]);
  const wrongIn = (problems: Problems<Field>): Field[] =>
    (Object.keys(problems) as Field[]).filter((field) => problems[field] !== null);
  const problems = problemsOf(values, useNow());
  const set = (changes: Partial<Values>): void => {
    const next = { ...values, ...changes };
    const wrong = wrongIn(problemsOf(next, Date.now()));
    setValues(next);
    setShown(shown.filter((field) => wrong.includes(field)));
  };
  const problemOf = (field: Field): string | null => (shown.includes(field) ? problems[field] : null);
  return {
    values,
    set,
    problemOf,
    /** The props of a field whose value is text. */
    fieldOf: <Name extends Field & keyof Values>(field: Name) => ({
      value: values[field],
      error: problemOf(field),
      onChange: (value: string) => set({ [field]: value } as Partial<Values>),
      onLeave: (): void => {
        if (problemsOf(values, Date.now())[field] !== null) setShown([...shown, field]);
      },
    }),
    /** Shows everything that is wrong, and puts the focus on the first of it. @returns whether nothing is */
    check(nowMs: number, inputs: Partial<Record<Field, RefObject<HTMLInputElement | null>>>): boolean {
      const wrong = wrongIn(problemsOf(values, nowMs));
      setShown(wrong);
      inputs[wrong[0]!]?.current?.focus();
      return wrong.length === 0;
    },
  };
}

export interface KeyFieldProps {
  value: string;
  error: string | null;
  input: RefObject<HTMLInputElement | null>;
  onChange: (value: string) => void;
  onLeave: () => void;
}

type TextFieldProps = KeyFieldProps &
  Pick<ComponentProps<typeof Field>, 'label' | 'hint' | 'aside'> &
  Omit<ComponentProps<typeof Input>, 'onChange' | 'onBlur'>;

export function TextField(props: TextFieldProps) {
  const { label, hint, aside, error, input, onChange, onLeave, ...control } = props;
  return (
    <Field {...{ label, hint, aside, error }}>
      <Input
        {...control}
        ref={input}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
        onBlur={onLeave}
      />
    </Field>
  );
}

export function NameField(props: KeyFieldProps) {
  return (
    <TextField
      {...props}
      label="Name"
      hint="The program or the person that will use it."
      aside={`${nameLength(props.value)} of ${maxNameLength}`}
      required
      placeholder="my app"
    />
  );
}

interface BudgetFieldProps extends KeyFieldProps {
  /** The key's, where it is known. */
  license: Pick<LicenseAnswer, 'billingPeriodEnd'> | undefined;
}

export function BudgetField({ license, ...props }: BudgetFieldProps) {
  const end = license === undefined ? '' : `, on ${formatUtcDate(license.billingPeriodEnd)}`;
  return (
    <TextField
      {...props}
      label="Monthly budget in credits (optional)"
      hint={`Empty for no budget. Requests over it are refused with error 429 until the license's period ends${end}. Then the budget begins anew.`}
      inputMode="numeric"
      placeholder="No budget"
    />
  );
}

interface AccessFieldProps {
  value: KeyAccess;
  onChange: (access: KeyAccess) => void;
}

export function AccessField({ value, onChange }: AccessFieldProps) {
  return (
    <Field
      label="What it may see and delete"
      hint={
        value === 'own'
          ? 'For a place that others can reach, as a browser: whoever finds the key reads nothing that it did not make.'
          : 'With a budget of its own it deletes only requests that it made.'
      }
    >
      <Select value={value} choices={choicesOf(accessChoices)} onChange={(choice) => onChange(choice!)} />
    </Field>
  );
}

interface PlacesFieldProps extends KeyFieldProps {
  /** The key's, where it is known. */
  license: Pick<LicenseAnswer, 'maxInFlight'> | undefined;
}

export function PlacesField({ license, ...props }: PlacesFieldProps) {
  const ofLicense = license === undefined ? '' : ` The license has ${license.maxInFlight} for all its keys.`;
  return (
    <TextField
      {...props}
      label="Requests at a time (optional)"
      hint={`Empty for no limit of its own.${ofLicense}`}
      inputMode="numeric"
      placeholder="No limit of its own"
    />
  );
}
