import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { cn } from '@/lib/cn.ts';
import { Button, type ButtonProps } from './ui/button.tsx';

interface CopyButtonProps extends Omit<ButtonProps, 'onClick' | 'children' | 'asChild' | 'pending'> {
  text: string;
  /** What the button does. With `iconOnly` only screen readers get it. */
  label?: string;
  iconOnly?: boolean;
  onCopied?: () => void;
}

type Outcome = 'copied' | 'failed' | null;

const said = {
  copied: 'Copied',
  failed: "The browser did not allow copying. Select the text and copy it with the keyboard's shortcut.",
};

export function CopyButton({ text, label = 'Copy', iconOnly = false, onCopied, ...props }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<Outcome>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(() => setOutcome(null), outcome === 'copied' ? 2000 : 8000);
    return () => clearTimeout(timer);
  }, [outcome]);

  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome('copied');
      onCopied?.();
    } catch {
      setOutcome('failed');
    }
  };
  const Icon = outcome === 'copied' ? Check : Copy;
  return (
    <>
      <Button
        variant={iconOnly ? 'ghost' : 'outline'}
        size={iconOnly ? 'icon-sm' : 'sm'}
        title={iconOnly ? label : undefined}
        {...props}
        onClick={() => void copy()}
      >
        <Icon aria-hidden />
        <span className={cn(iconOnly && 'sr-only')}>
          {outcome === 'copied' && !iconOnly ? 'Copied' : label}
        </span>
      </Button>
      <span role="status" className={outcome === 'failed' ? 'text-xs text-muted-foreground' : 'sr-only'}>
        {outcome === null ? '' : said[outcome]}
      </span>
    </>
  );
}
