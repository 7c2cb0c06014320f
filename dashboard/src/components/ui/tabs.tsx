import { Tabs as Primitive } from 'radix-ui';
import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

export function Tabs(props: ComponentProps<typeof Primitive.Root>) {
  return <Primitive.Root className="grid min-w-0 grid-cols-1 gap-4" {...props} />;
}

export function TabsList(props: ComponentProps<typeof Primitive.List>) {
  return (
    <Primitive.List
      className="inline-flex w-fit max-w-full gap-1 overflow-x-auto rounded-lg bg-muted p-1"
      {...props}
    />
  );
}

export function TabsTrigger(props: ComponentProps<typeof Primitive.Trigger>) {
  return (
    <Primitive.Trigger
      className="inline-flex h-8 items-center gap-2 rounded-md px-3 text-sm font-medium whitespace-nowrap text-muted-foreground transition-colors hover:text-foreground focus-visible:-outline-offset-2 data-[state=active]:bg-card data-[state=active]:text-foreground data-[state=active]:shadow-xs"
      {...props}
    />
  );
}

export function TabsContent({ className, ...props }: ComponentProps<typeof Primitive.Content>) {
  return <Primitive.Content className={cn('rounded-md', className)} {...props} />;
}
