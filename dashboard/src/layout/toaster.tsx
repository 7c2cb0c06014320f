import { Toaster as Sonner } from 'sonner';
import { useTheme } from '@/lib/theme.ts';

/** Shows the messages of sonner's `toast(…)`. Use them for what happened on another screen, not for a form's failures. */
export default function Toaster() {
  return (
    <Sonner
      theme={useTheme()}
      // At the top, because what can be done with an image stands below it. On phones below the bar.
      position="top-center"
      mobileOffset={{ top: '4rem' }}
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
