import { Toaster as Sonner } from 'sonner';
import { useTheme } from '@/lib/theme.ts';

/** Where `toast(…)` of sonner is shown: for what happened elsewhere; failures of a form belong beside the form. */
export default function Toaster() {
  const { dark } = useTheme();
  return (
    <Sonner
      theme={dark ? 'dark' : 'light'}
      position="bottom-right"
      mobileOffset={{ bottom: '5.5rem' }}
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
