import type { Page } from 'playwright-core';

/** Everything in a page that could act, load or lead elsewhere. */
interface Audit {
  /** What a script that was slipped in would have set. */
  readonly hacked: unknown;
  readonly acting: readonly string[];
  readonly handlers: readonly string[];
  /** Where links lead: the protocols, each once. */
  readonly links: readonly string[];
  /** What pictures begin with, each once. */
  readonly pictures: readonly string[];
  /** Elements that are not of HTML. */
  readonly foreign: number;
}

/** A page in which nothing acts, whatever its links and pictures are. */
export const harmless = { hacked: undefined, acting: [], handlers: [], foreign: 0 };

/** Looks through a whole page. `own`: what the page itself has of this kind, as a selector. */
export const audit = (page: Page, own: string): Promise<Audit> =>
  page.evaluate(`(() => {
    // Signs on buttons are the page's own where they are lines, and nothing else.
    const LINE = new Set(['class', 'd', 'cx', 'cy', 'r', 'pathLength', 'style', 'stroke-dasharray', 'transform']);
    const isLine = (part) => /^(path|circle)$/.test(part.localName) && part.getAttributeNames().every((name) => LINE.has(name));
    const isSign = (svg) => svg.matches('.icon, .ring') && [...svg.querySelectorAll('*')].every(isLine);
    const signs = [...document.querySelectorAll('svg')].filter(isSign);
    const all = [...document.querySelectorAll('*')].filter(
      (element) => !element.matches(${JSON.stringify(own)}) && !signs.some((svg) => svg.contains(element)),
    );
    const each = (texts) => [...new Set(texts)].sort();
    const ACTING = /^(script|iframe|object|embed|form|svg|math|link|base|frame|video|audio|style|meta)$/;
    return {
      hacked: window.hacked,
      acting: all.map(({ localName }) => localName).filter((name) => ACTING.test(name)),
      handlers: all.flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith('on')),
      links: each(all.filter(({ href }) => href).map(({ href }) => new URL(href).protocol)),
      pictures: each([...document.images].map(({ src }) => src.split(',')[0])),
      foreign: all.filter(({ namespaceURI }) => namespaceURI !== 'http://www.w3.org/1999/xhtml').length,
    };
  })()`);
