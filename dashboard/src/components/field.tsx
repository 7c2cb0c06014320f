import { Label as Primitive } from 'radix-ui';
import { useId, type ComponentProps, type ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';
import { ControlContext } from './ui/input.tsx';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null | undefined;
  /** At the label's right: a value, a counter. */
  aside?: ReactNode;
  /** One control, which may have others beside it. */
  children: ReactNode;
}

export function Field({ label, hint, error, aside, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  const control = {
    id,
    ...(described !== '' && { 'aria-describedby': described }),
    ...(error && { 'aria-invalid': true }),
  };
  return (
    <div className="grid min-w-0 grid-cols-1 content-start gap-1">
      <div className="flex items-baseline justify-between gap-2">
        <Label id={`${id}-label`} htmlFor={id}>
          {label}
        </Label>
        {aside !== undefined && <span className="text-xs text-muted-foreground tabular-nums">{aside}</span>}
      </div>
      <ControlContext value={control}>{children}</ControlContext>
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
