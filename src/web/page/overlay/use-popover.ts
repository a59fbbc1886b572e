import { useSignal } from '@preact/signals';
import type { TargetedToggleEvent } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { positionBeside } from './position-beside.ts';

/** Something that a button opens beside it, by the means of the browser: Escape and a click elsewhere close it. */
export function usePopover() {
  const id = useId();
  /** Whether it is open, or about to be: what is in it is made then. */
  const isOpen = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const beforeToggle = ({ newState }: TargetedToggleEvent<HTMLElement>) => {
    isOpen.value = newState === 'open';
    positionBeside(place.current, button.current);
  };
  return { id, isOpen, button, place, beforeToggle };
}
