import { useEffect, type ReactNode } from 'react';
import { ProductMark, productName } from './product.tsx';

interface NoticePageProps {
  title: string;
  children?: ReactNode;
  /** A button. */
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
