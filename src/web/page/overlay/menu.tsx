import { Icon, type IconName } from '../icons.tsx';
import { usePopover } from './use-popover.ts';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName | undefined;
  readonly isDangerous?: boolean | undefined;
  readonly onSelect: () => void;
}

interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
}

/** A button with a menu. Arrow keys move through it; closed menus render no items. */
export function Menu({ label, items }: MenuProps) {
  const { id, isOpen, button, panel, beforeToggle } = usePopover();
  const step = (by: number) => {
    const all = [...(panel.current?.querySelectorAll('button') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    all.at((at + by + all.length) % all.length)?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="quiet icon-only"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        popovertarget={id}
      >
        <Icon name="more" />
      </button>
      <div
        ref={panel}
        id={id}
        class="menu"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        popover="auto"
        onBeforeToggle={beforeToggle}
        onToggle={({ newState }) => newState === 'open' && !panel.current?.querySelector(':focus') && step(1)}
        onKeyDown={(event) => {
          const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          if (by === 0) return;
          event.preventDefault();
          step(by);
        }}
      >
        {isOpen.value &&
          items.map(({ label: name, icon, isDangerous, onSelect }) => (
            <button
              key={name}
              type="button"
              role="menuitem"
              class={isDangerous ? 'dangerous' : ''}
              onClick={() => {
                panel.current?.hidePopover();
                onSelect();
              }}
            >
              {icon && <Icon name={icon} />}
              {name}
            </button>
          ))}
      </div>
    </>
  );
}
