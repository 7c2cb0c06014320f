/** What floats above the page: menus and lists of choices. */
export const popupLooks =
  'z-50 max-w-[calc(100vw-1rem)] overflow-x-hidden overflow-y-auto rounded-lg border border-border bg-popover p-1 shadow-lg shadow-black/8 dark:shadow-black/40 data-[state=open]:animate-in data-[state=open]:fade-in-0 data-[state=open]:duration-100';

export const itemLooks =
  "relative flex min-h-10 cursor-default items-center gap-2 rounded-md px-2 py-1 text-sm outline-none select-none focus:bg-accent data-highlighted:bg-accent data-disabled:pointer-events-none data-disabled:opacity-50 lg:min-h-8 [&_svg:not([class*='size-'])]:size-4 [&_svg]:shrink-0";

/** Behind dialogs. */
export const overlayLooks =
  'fixed inset-0 z-50 bg-black/40 dark:bg-black/60 data-[state=open]:animate-in data-[state=open]:fade-in-0 data-[state=closed]:animate-out data-[state=closed]:fade-out-0';

/** A dialog in the middle of the screen. */
export const dialogLooks =
  'fixed top-1/2 left-1/2 z-50 grid max-h-[calc(100dvh-2rem)] w-[calc(100%-2rem)] max-w-lg -translate-x-1/2 -translate-y-1/2 gap-4 overflow-y-auto rounded-xl border border-border bg-popover p-6 shadow-xl shadow-black/10 data-[state=open]:animate-in data-[state=open]:fade-in-0 data-[state=closed]:animate-out data-[state=closed]:fade-out-0 duration-150';
