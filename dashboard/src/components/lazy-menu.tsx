import { cloneElement, lazy, Suspense, useState, type ComponentType, type ReactElement } from 'react';
import type { ButtonProps } from './ui/button.tsx';

/** What opens a menu: a button that passes on what it is given. */
export type MenuTrigger = ReactElement<ButtonProps>;

/**
 * A menu whose code comes when a pointer or the focus first nears its button, so that the first load does without.
 * @param load imports a component that shows its trigger with the menu open below it.
 */
export function lazyMenu(load: () => Promise<{ default: ComponentType<{ trigger: MenuTrigger }> }>) {
  const Menu = lazy(load);
  const prefetch = (): void => void load().catch(() => {});
  return function LazyMenu({ trigger }: { trigger: MenuTrigger }) {
    const [wanted, setWanted] = useState(false);
    const button = cloneElement(trigger, {
      'aria-haspopup': 'menu',
      'aria-expanded': wanted,
      onPointerEnter: prefetch,
      onFocus: prefetch,
      onClick: () => setWanted(true),
      onKeyDown: (event) => {
        if (event.key === 'ArrowDown') setWanted(true);
      },
    });
    if (!wanted) return button;
    return (
      <Suspense fallback={button}>
        <Menu trigger={trigger} />
      </Suspense>
    );
  };
}
