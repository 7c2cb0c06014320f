import { createContext, use, type ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

/** Connects a control with the label, the hint and the error of the `Field` around it. */
export const ControlContext = createContext<
  Pick<ComponentProps<'input'>, 'id' | 'aria-describedby' | 'aria-invalid'>
>({});

/** Of every control that is typed into or opened. The text has 16 px on phones, because iOS zooms in on smaller text. */
export const controlClasses =
  'w-full rounded-md border border-input bg-card px-3 text-base lg:text-sm transition-colors focus-visible:-outline-offset-1 placeholder:text-muted-foreground disabled:cursor-not-allowed disabled:opacity-50 aria-invalid:border-destructive';

export function Input({ className, type = 'text', ...props }: ComponentProps<'input'>) {
  const classes = cn(controlClasses, 'h-10', className);
  return <input {...use(ControlContext)} type={type} dir="auto" className={classes} {...props} />;
}

/** Grows with its text in browsers that support `field-sizing`. */
export function Textarea({ className, onFocus, ...props }: ComponentProps<'textarea'>) {
  return (
    <textarea
      {...use(ControlContext)}
      dir="auto"
      onFocus={(event) => {
        // Browsers bring only the line with the caret into view, and a bar may cover the others.
        event.currentTarget.scrollIntoView({ block: 'nearest' });
        onFocus?.(event);
      }}
      className={cn(controlClasses, 'field-sizing-content min-h-24 py-2 leading-6 lg:leading-6', className)}
      {...props}
    />
  );
}
