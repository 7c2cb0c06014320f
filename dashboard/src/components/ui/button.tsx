import { LoaderCircle } from 'lucide-react';
import { Slot } from 'radix-ui';
import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

const common =
  "inline-flex shrink-0 items-center justify-center gap-2 rounded-md text-sm font-medium whitespace-nowrap transition-colors select-none disabled:pointer-events-none disabled:opacity-50 aria-disabled:pointer-events-none aria-disabled:opacity-50 [&_svg]:pointer-events-none [&_svg]:shrink-0 [&_svg:not([class*='size-'])]:size-4";
const variants = {
  default: 'bg-primary text-primary-foreground hover:bg-primary/85',
  outline: 'border border-border bg-card hover:bg-accent',
  ghost: 'hover:bg-accent',
  destructive: 'bg-destructive-solid text-white hover:bg-destructive-solid/90',
};
const sizes = {
  default: 'h-10 px-4',
  sm: 'h-8 px-3',
  icon: 'size-10',
  'icon-sm': 'size-8',
};

export interface ButtonProps extends ComponentProps<'button'> {
  variant?: keyof typeof variants;
  size?: keyof typeof sizes | undefined;
  /** Styles its only child, a link for instance. */
  asChild?: boolean;
  /** Shows that its work is under way. It takes no clicks and keeps the focus. */
  pending?: boolean;
}

export function Button({ variant = 'default', size = 'default', asChild, pending, ...props }: ButtonProps) {
  const { className, children, onClick, ...rest } = props;
  const classes = cn(common, variants[variant], sizes[size], className);
  if (asChild) {
    return (
      <Slot.Root className={classes} onClick={onClick} {...rest}>
        {children}
      </Slot.Root>
    );
  }
  return (
    <button
      type="button"
      className={classes}
      {...(pending ? { 'aria-disabled': true, onClick: (event) => event.preventDefault() } : { onClick })}
      {...rest}
    >
      {pending && <LoaderCircle aria-hidden className="animate-spin" />}
      {children}
    </button>
  );
}
