/** Moves the focus with the arrow keys between the filter and the listed sessions. */
export function stepWithArrows(event: KeyboardEvent): void {
  const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const from = event.currentTarget;
  if (by === 0 || !(from instanceof HTMLElement)) return;
  const stops = from.closest('.sidebar')?.querySelectorAll<HTMLElement>('.filter input, .session-row > a') ?? [];
  event.preventDefault();
  [...stops][[...stops].indexOf(from) + by]?.focus();
}
