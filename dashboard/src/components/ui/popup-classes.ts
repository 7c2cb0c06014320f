/** What floats above the page: menus and lists of choices. */
export const popupClasses =
  'z-50 max-w-[calc(100vw-1rem)] overflow-x-hidden overflow-y-auto rounded-lg border border-border bg-popover p-1 shadow-lg shadow-black/8 dark:shadow-black/40 data-[state=open]:animate-in data-[state=open]:fade-in-0 data-[state=open]:duration-100';

export const itemClasses =
  "relative flex min-h-10 cursor-default items-center gap-2 rounded-md px-2 py-1 text-sm outline-none select-none focus:bg-accent data-highlighted:bg-accent data-disabled:pointer-events-none data-disabled:opacity-50 lg:min-h-8 [&_svg:not([class*='size-'])]:size-4 [&_svg]:shrink-0";
