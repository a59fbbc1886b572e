/** Goes with the arrows from the filter to the sessions below it, from one to the next and back. */
export function stepWithArrows(event: KeyboardEvent): void {
  const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const from = event.currentTarget;
  if (by === 0 || !(from instanceof HTMLElement)) return;
  const stops = from.closest('.sidebar')?.querySelectorAll<HTMLElement>('.filter input, .session-row > a') ?? [];
  event.preventDefault();
  [...stops][[...stops].indexOf(from) + by]?.focus();
}
