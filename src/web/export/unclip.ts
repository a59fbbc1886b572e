import { options } from 'preact';

/** Shows all of every text in here, at once: what is printed or searched cannot wait. */
export function unclip(container: ParentNode): void {
  const later = options.debounceRendering;
  options.debounceRendering = (draw) => draw();
  for (const more of container.querySelectorAll<HTMLButtonElement>('button.unclip')) more.click();
  if (later) options.debounceRendering = later;
  else delete options.debounceRendering;
}
