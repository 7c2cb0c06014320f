import { Ban } from 'lucide-react';
import { useLayoutEffect, useRef } from 'react';
import { toast } from 'sonner';
import { useCancelGeneration } from '@/api/changes.ts';
import { Button } from './ui/button.tsx';

/** Ends a request that runs. It asks nothing, because nothing is charged. */
export function CancelButton({ requestId, className }: { requestId: string; className?: string }) {
  const { mutate, isPending } = useCancelGeneration();
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const own = button.current;
    return () => {
      // It goes away as its request ends: the focus stays near by, and not at the beginning of the page.
      if (document.activeElement === own) neighbour(own!)?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <Button
      ref={button}
      variant="outline"
      size="sm"
      icon={Ban}
      className={className ?? ''}
      pending={isPending}
      onClick={() => mutate(requestId, { onError: ({ message }) => void toast.error(message) })}
    >
      Cancel<span className="sr-only"> the request</span>
    </Button>
  );
}

/** The link of its card, the section that it is in, or the page's title. */
function neighbour(button: HTMLElement): HTMLElement | null {
  const near = button.closest('article')?.querySelector('a') ?? button.closest('section[tabindex]');
  return (near as HTMLElement | null) ?? document.querySelector('h1');
}
