import { cn } from '@/lib/cn.ts';
import { CopyButton } from './copy-button.tsx';

interface CodeBlockProps {
  code: string;
  /** What the code is, for screen readers and the copy button: `curl request`. */
  label: string;
  /** What is copied, if that differs from what is shown. */
  copyText?: string;
  className?: string;
}

export function CodeBlock({ code, label, copyText = code, className }: CodeBlockProps) {
  return (
    <div className={cn('relative min-w-0 rounded-lg border border-border bg-muted', className)}>
      {/* Focusable, so that the keyboard can scroll it. */}
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className="overflow-x-auto rounded-lg p-4 pr-14 font-mono text-[0.8125rem] leading-6"
      >
        <code>{code}</code>
      </pre>
      <div className="absolute top-2 right-2 rounded-md bg-muted">
        <CopyButton text={copyText} label={`Copy the ${label}`} iconOnly />
      </div>
    </div>
  );
}
