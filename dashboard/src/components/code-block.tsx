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
    <div className={cn('relative flex min-w-0 flex-col rounded-lg border border-border bg-muted', className)}>
      {/* Focusable, so that the keyboard can scroll it. */}
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className="overflow-x-auto rounded-lg p-4 font-mono sm:pr-14 text-[0.8125rem] leading-6"
      >
        <code>{code}</code>
      </pre>
      {/* Beside the code where there is room, above it on phones. */}
      <div className="flex justify-end rounded-md bg-muted max-sm:order-first max-sm:border-b max-sm:border-border max-sm:px-2 max-sm:py-1 sm:absolute sm:top-2 sm:right-2">
        <CopyButton text={copyText} label={`Copy the ${label}`} iconOnly />
      </div>
    </div>
  );
}
