import { options } from 'preact';

/** Expands all clipped texts synchronously, for printing and searching. */
export function showAllText(container: ParentNode): void {
  const debounce = options.debounceRendering;
  options.debounceRendering = (draw) => draw();
  for (const more of container.querySelectorAll<HTMLButtonElement>('button.unclip')) more.click();
  if (debounce) options.debounceRendering = debounce;
  else delete options.debounceRendering;
}
