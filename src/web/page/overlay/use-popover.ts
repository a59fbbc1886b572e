import { useSignal } from '@preact/signals';
import type { TargetedToggleEvent } from 'preact';
import { useId, useRef } from 'preact/hooks';

/** A native popover beside its button: Escape and a click elsewhere close it. */
export function usePopover() {
  const id = useId();
  // Set before the popover opens, so that its content is rendered by then.
  const isOpen = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const beforeToggle = ({ newState }: TargetedToggleEvent<HTMLElement>) => {
    isOpen.value = newState === 'open';
    positionBeside(panel.current, button.current);
  };
  return { id, isOpen, button, panel, beforeToggle };
}

// Sets the CSS variables `--left`, `--right`, `--top`, `--bottom` and `--room` of a panel so that it opens on the side
// of the button with more room.
function positionBeside(opened: HTMLElement | null, button: HTMLElement | null): void {
  if (!opened || !button) return;
  const { left, right, top, bottom } = button.getBoundingClientRect();
  const isLeft = left + right < innerWidth;
  const isHigh = top + bottom < innerHeight;
  const position = {
    left: isLeft ? left : undefined,
    right: isLeft ? undefined : innerWidth - right,
    top: isHigh ? bottom + 4 : undefined,
    bottom: isHigh ? undefined : innerHeight - top + 4,
    room: (isHigh ? innerHeight - bottom : top) - 12,
  };
  for (const [side, distance] of Object.entries(position)) {
    opened.style.setProperty(`--${side}`, distance === undefined ? 'auto' : `${distance}px`);
  }
}
