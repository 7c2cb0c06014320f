import { Label as Primitive } from 'radix-ui';
import { useId, type ComponentProps, type ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';

/** Connects a control with its label, its hint and its error. */
export interface ControlProps {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
}

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null | undefined;
  /** At the label's right: a value, a counter. */
  aside?: ReactNode;
  /** Gets the ids that connect label, hint and error with the control: `(control) => <Input {...control} />`. */
  children: (control: ControlProps) => ReactNode;
}

export function Field({ label, hint, error, aside, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="grid min-w-0 grid-cols-1 content-start gap-1">
      <div className="flex items-baseline justify-between gap-2">
        <Label id={`${id}-label`} htmlFor={id}>
          {label}
        </Label>
        {aside !== undefined && <span className="text-xs text-muted-foreground tabular-nums">{aside}</span>}
      </div>
      {children({
        id,
        ...(described !== '' && { 'aria-describedby': described }),
        ...(error && { 'aria-invalid': true }),
      })}
      {hint && (
        <p id={`${id}-hint`} className="text-xs leading-5 text-muted-foreground">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="text-xs leading-5 text-destructive">
          {error}
        </p>
      )}
    </div>
  );
}

export function Label({ className, ...props }: ComponentProps<typeof Primitive.Root>) {
  return <Primitive.Root className={cn('block text-sm font-medium', className)} {...props} />;
}
