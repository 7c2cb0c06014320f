import { ExternalLink, LoaderCircle, type LucideIcon } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { Link, type LinkProps } from 'react-router';
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

interface Look {
  variant?: keyof typeof variants;
  size?: keyof typeof sizes | undefined;
  /** Before the text. */
  icon?: LucideIcon;
  /** The name of a button that is an icon alone, also its title. */
  label?: string;
  className?: string;
  children?: ReactNode;
}

function dressed<Props extends Look>(props: Props) {
  const { label, icon: Icon, className, children, ...rest } = props;
  const { variant = label ? 'ghost' : 'default', size = label ? 'icon-sm' : 'default', ...others } = rest;
  const content = (
    <>
      {Icon && <Icon aria-hidden />}
      {children}
    </>
  );
  const named = label && { 'aria-label': label, title: label };
  const classes = cn(common, variants[variant], sizes[size], className);
  return { ...named, ...others, className: classes, children: content };
}

export interface ButtonProps extends Look, Omit<ComponentProps<'button'>, keyof Look> {
  /** Shows that its work is under way, in the place of the icon. It takes no clicks and keeps the focus. */
  pending?: boolean;
}

export function Button({ pending = false, ...props }: ButtonProps) {
  const { children, ...rest } = dressed(pending ? { ...props, icon: undefined } : props);
  return (
    <button
      type="button"
      {...rest}
      {...(pending && { 'aria-disabled': true, onClick: (event) => event.preventDefault() })}
    >
      {pending && <LoaderCircle aria-hidden className="animate-spin" />}
      {children}
    </button>
  );
}

/** A link to another page of the dashboard that looks like a button. */
export function LinkButton(props: Look & Omit<LinkProps, keyof Look>) {
  return <Link {...dressed(props)} />;
}

type NewTabButtonProps = Look & Omit<ComponentProps<'a'>, keyof Look>;

/** The same for an address elsewhere. It opens a new tab, and says so to screen readers in its own words. */
export function NewTabButton(props: NewTabButtonProps) {
  const { children, ...link } = dressed(props);
  return (
    <a target="_blank" rel="noopener noreferrer" {...link}>
      {children}
    </a>
  );
}

/** The same for a site of others. @param props.more what only screen readers have to be told of it, after the text */
export function SiteButton({ more = '', children, ...props }: NewTabButtonProps & { more?: string }) {
  return (
    <NewTabButton {...props}>
      {children}
      <ExternalLink aria-hidden />
      <span className="sr-only">{more} (new tab)</span>
    </NewTabButton>
  );
}
