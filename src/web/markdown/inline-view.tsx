import { type ComponentChildren, createContext } from 'preact';
import { useContext, useRef } from 'preact/hooks';
import { visibleNodes } from '../code/plain-text.tsx';
import { LinkDefinitions } from './block/link-definitions.ts';
import type { Inline } from './inline/inline.ts';
import { parseInline } from './inline/inline-reader.ts';

/** Link definitions of the surrounding text. */
export const DefinitionsContext = createContext(new LinkDefinitions());

interface InlineViewProps {
  readonly text: string;
  readonly isOpen?: boolean | undefined;
}

interface ParsedText extends InlineViewProps {
  readonly shown: ComponentChildren;
  // Link labels that were looked up, with their addresses.
  readonly lookups: ReadonlyMap<string, string | undefined>;
}

/** Renders inline markdown, parsed again only if the text or a looked-up definition changes. */
export function InlineView({ text, isOpen = false }: InlineViewProps) {
  const definitions = useContext(DefinitionsContext);
  const last = useRef<ParsedText>(null);
  const isSame = last.current?.text === text && last.current.isOpen === isOpen && isCurrent(last.current, definitions);
  if (!isSame) last.current = parseText({ text, isOpen }, definitions);
  return last.current?.shown;
}

const isCurrent = ({ lookups }: ParsedText, definitions: LinkDefinitions) =>
  [...lookups].every(([label, address]) => definitions.get(label) === address);

function parseText({ text, isOpen }: InlineViewProps, definitions: LinkDefinitions): ParsedText {
  const lookups = new Map<string, string | undefined>();
  const lookUp = (label: string) => {
    const address = definitions.get(label);
    lookups.set(label, address);
    return address;
  };
  return { text, isOpen, lookups, shown: <>{parseInline(text, { isOpen, lookUp }).map(renderInline)}</> };
}

function renderInline(inline: Inline): ComponentChildren {
  switch (inline.type) {
    case 'text':
      return visibleNodes(inline.text);
    case 'code':
      return <code>{visibleNodes(inline.text)}</code>;
    case 'comment':
      return <span class="comment">{visibleNodes(inline.text)}</span>;
    case 'break':
      return <br />;
    case 'link':
      return <Link href={inline.href}>{inline.children.map(renderInline)}</Link>;
    case 'picture':
      return <Link href={inline.href}>Picture: {visibleNodes(inline.alt || inline.href)}</Link>;
    case 'strong':
      return <strong>{inline.children.map(renderInline)}</strong>;
    case 'emphasis':
      return <em>{inline.children.map(renderInline)}</em>;
    case 'strike':
      return <s>{inline.children.map(renderInline)}</s>;
  }
}

/** The title shows the address, since the text of a link can claim any other. */
const Link = ({ href, children }: { readonly href: string; readonly children: ComponentChildren }) => (
  <a href={href} title={href} target="_blank" rel="noopener noreferrer">
    {children}
  </a>
);
