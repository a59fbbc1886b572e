import type { Page } from 'playwright-core';

/** Everything in a page that could execute, load or navigate. */
interface PageAudit {
  /** The variable that an injected script would have set. */
  readonly hacked: unknown;
  readonly acting: readonly string[];
  readonly handlers: readonly string[];
  /** Protocols of all links, each once. */
  readonly links: readonly string[];
  /** Scheme and type of all image sources, each once. */
  readonly pictures: readonly string[];
  /** Number of elements outside the HTML namespace. */
  readonly foreign: number;
}

/** Audit of a page in which nothing executes, apart from links and images. */
export const harmless = { hacked: undefined, acting: [], handlers: [], foreign: 0 };

/** Audits a whole page; `own` selects the page's own elements, which are skipped. */
export const audit = (page: Page, own: string): Promise<PageAudit> =>
  page.evaluate(`(() => {
    // Icons of the page itself consist of plain lines only.
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
