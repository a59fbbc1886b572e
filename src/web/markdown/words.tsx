import { type ComponentChildren, createContext } from 'preact';
import { useContext, useRef } from 'preact/hooks';
import { visible } from '../code/plain-text.tsx';
import { Definitions } from './block/definitions.ts';
import type { Inline } from './inline/inline.ts';
import { parseInline } from './inline/inline-reader.ts';

/** Where the links of a text lead whose addresses are told elsewhere in it. */
export const DefinitionsContext = createContext(new Definitions());

interface WordsProps {
  readonly text: string;
  readonly isOpen?: boolean | undefined;
}

interface Reading extends WordsProps {
  readonly shown: ComponentChildren;
  /** The names of links that were looked up, and what was found. */
  readonly asked: ReadonlyMap<string, string | undefined>;
}

/** The words of a paragraph. They are read again only when they change, or when what they refer to does. */
export function Words({ text, isOpen = false }: WordsProps) {
  const definitions = useContext(DefinitionsContext);
  const last = useRef<Reading>(null);
  const isSame = last.current?.text === text && last.current.isOpen === isOpen && holds(last.current, definitions);
  if (!isSame) last.current = read({ text, isOpen }, definitions);
  return last.current?.shown;
}

const holds = ({ asked }: Reading, definitions: Definitions) =>
  [...asked].every(([label, address]) => definitions.get(label) === address);

function read({ text, isOpen }: WordsProps, definitions: Definitions): Reading {
  const asked = new Map<string, string | undefined>();
  const lookUp = (label: string) => {
    const address = definitions.get(label);
    asked.set(label, address);
    return address;
  };
  return { text, isOpen, asked, shown: <>{parseInline(text, { isOpen, lookUp }).map(draw)}</> };
}

function draw(inline: Inline): ComponentChildren {
  switch (inline.type) {
    case 'text':
      return visible(inline.text);
    case 'code':
      return <code>{visible(inline.text)}</code>;
    case 'comment':
      return <span class="comment">{visible(inline.text)}</span>;
    case 'break':
      return <br />;
    case 'link':
      return <Link href={inline.href}>{inline.children.map(draw)}</Link>;
    case 'picture':
      return <Link href={inline.href}>Picture: {visible(inline.alt || inline.href)}</Link>;
    case 'strong':
      return <strong>{inline.children.map(draw)}</strong>;
    case 'emphasis':
      return <em>{inline.children.map(draw)}</em>;
    case 'strike':
      return <s>{inline.children.map(draw)}</s>;
  }
}

/** Says where it leads: the words of a link may claim anything. */
const Link = ({ href, children }: { readonly href: string; readonly children: ComponentChildren }) => (
  <a href={href} title={href} target="_blank" rel="noopener noreferrer">
    {children}
  </a>
);
