import { useSignal } from '@preact/signals';
import type { TargetedToggleEvent } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { positionBeside } from './position-beside.ts';

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
