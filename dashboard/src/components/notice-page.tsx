import { useEffect, type ReactNode, useState } from 'react';
import { reload } from '@/lib/reload.ts';
import { ProductMark, productName } from './product.tsx';
import { Button } from './ui/button.tsx';

interface NoticePageProps {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

/** A page without the shell: one thing to say and one thing to do. */
export function NoticePage({ title, children, action }: NoticePageProps) {
  useEffect(() => {
    document.title = `${title} · ${productName}`;
  }, [title]);
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col items-start justify-center gap-2 px-6 py-16">
      <p className="mb-6 flex items-center gap-3 font-medium">
        <ProductMark className="size-8" />
        {productName}
      </p>
      <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
      {children !== undefined && <div className="text-pretty text-muted-foreground">{children}</div>}
      {action !== undefined && <div className="mt-4">{action}</div>}
    </main>
  );
}

/** Loads the page again, and says so where it can't be had now. */
export function ReloadButton() {
  const [state, setState] = useState<'trying' | 'failed' | null>(null);
  const press = async (): Promise<void> => {
    setState('trying');
    if (!(await reload())) setState('failed');
  };
  return (
    <>
      <Button pending={state === 'trying'} onClick={() => void press()}>
        Reload the page
      </Button>
      <p role="status" className="mt-2 text-muted-foreground empty:hidden">
        {state === 'failed' && 'The service can’t be reached now. Try again in a moment.'}
      </p>
    </>
  );
}
