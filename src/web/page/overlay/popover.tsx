import type { ComponentChildren } from 'preact';
import { usePopover } from './use-popover.ts';

interface PopoverProps {
  /** What the button is called. */
  readonly label: string;
  readonly button: ComponentChildren;
  /** What is opened is called. */
  readonly title: string;
  /** Made when it is opened. */
  readonly children: () => ComponentChildren;
}

/** A button that opens something small beside it. */
export function Popover({ label, button, title, children }: PopoverProps) {
  const { id, isOpen, button: opener, place, beforeToggle } = usePopover();
  return (
    <>
      <button
        ref={opener}
        type="button"
        class="chip"
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={isOpen.value}
        popovertarget={id}
      >
        {button}
      </button>
      <div
        ref={place}
        id={id}
        class="popover"
        role="dialog"
        aria-label={title}
        popover="auto"
        onBeforeToggle={beforeToggle}
      >
        {isOpen.value && children()}
      </div>
    </>
  );
}
