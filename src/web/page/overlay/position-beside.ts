// Sets the CSS variables `--left`, `--right`, `--top`, `--bottom` and `--room` of a panel so that it opens on the side
// of the button with more room.
export function positionBeside(opened: HTMLElement | null, button: HTMLElement | null): void {
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
