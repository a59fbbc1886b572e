import type { JSX } from 'preact';

// SVG paths on a 24 by 24 grid.
const paths = {
  add: 'M12 5v14M5 12h14',
  alert: 'M12 8v5M12 16.5v.5M10.3 4 2.5 18a2 2 0 0 0 1.7 3h15.6a2 2 0 0 0 1.7-3L13.7 4a2 2 0 0 0-3.4 0z',
  attach: 'm20 11-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4L14.5 7',
  bell: 'M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15zM10 20.5a2.2 2.2 0 0 0 4 0',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  close: 'M6 6l12 12M18 6 6 18',
  compact: 'M4 5h16M4 19h16M12 8v3M9.5 9l2.5 2.5L14.5 9M12 16v-3M9.5 15l2.5-2.5 2.5 2.5',
  copy: 'M9 9h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H9a1 1 0 0 1-1-1V10a1 1 0 0 1 1-1zM5 15H4a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v1',
  down: 'm6 9 6 6 6-6',
  download: 'M12 4v11M7 10.5l5 5 5-5M5 20h14',
  end: 'M12 5v14M6 13l6 6 6-6',
  file: 'M14 3H6a1 1 0 0 0-1 1v16a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1V8zM14 3v5h5',
  folder: 'M3 6a1 1 0 0 1 1-1h5l2 3h9a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1z',
  fork: 'M6 7v10M6 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM6 21a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM18 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM18 9v1a4 4 0 0 1-4 4H6',
  image: 'M4 5h16v14H4zM4 16.5l5-5 4.5 4.5 2.5-2.5 4 4M15.5 9v.1',
  info: 'M12 11v5.5M12 7.5v.1M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z',
  key: 'M8 16a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM12.5 11.5H21V15M17 11.5V14',
  keyboard: 'M3 6h18v12H3zM7 10v.1M12 10v.1M17 10v.1M8 14h8',
  logout: 'M14 4H6a1 1 0 0 0-1 1v14a1 1 0 0 0 1 1h8M10 12h10M16.5 8l4 4-4 4',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  list: 'M4 6h16M4 12h16M4 18h16',
  more: 'M5 11.5a.5.5 0 1 0 0 1 .5.5 0 0 0 0-1zM12 11.5a.5.5 0 1 0 0 1 .5.5 0 0 0 0-1zM19 11.5a.5.5 0 1 0 0 1 .5.5 0 0 0 0-1z',
  moon: 'M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z',
  rename: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5 21 21',
  send: 'M12 20V5M6 11l6-6 6 6',
  shield: 'M12 3 5 5.5V11c0 4.5 2.9 8 7 10 4.1-2 7-5.5 7-10V5.5z',
  stop: 'M7 7h10v10H7z',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  terminal: 'm5 7 5 5-5 5M12 18h7',
  thought: 'M9 18h6M10 21h4M12 3a6 6 0 0 0-3.8 10.6c.8.7 1.3 1.5 1.3 2.4h5c0-.9.5-1.7 1.3-2.4A6 6 0 0 0 12 3z',
  trash: 'M4 7h16M10 11v6M14 11v6M6 7l1 13a1 1 0 0 0 1 1h8a1 1 0 0 0 1-1l1-13M9 7V4h6v3',
  up: 'm6 15 6-6 6 6',
} as const;

export type IconName = keyof typeof paths;

/** Draws an icon. It is hidden from assistive technology: its parent carries the label. */
export const Icon = ({ name }: { readonly name: IconName }): JSX.Element => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);
