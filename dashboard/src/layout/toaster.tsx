import { Toaster as Sonner } from 'sonner';
import { useTheme } from '@/lib/theme.ts';

/** Shows the messages of sonner's `toast(…)`. Use them for what happened on another screen, not for a form's failures. */
export default function Toaster() {
  return (
    <Sonner
      theme={useTheme()}
      position="bottom-right"
      // Above the playground's button.
      mobileOffset={{ bottom: '8.75rem' }}
      toastOptions={{
        classNames: {
          toast:
            '!rounded-lg !border-border !bg-popover !text-foreground !font-sans !text-sm !shadow-lg !shadow-black/8',
          description: '!text-muted-foreground',
        },
      }}
    />
  );
}
