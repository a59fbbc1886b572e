import { type ComponentChildren, Fragment, type JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { CodeBlock } from '../code/code-block.tsx';
import { PlainText } from '../code/plain-text.tsx';
import type { Block, ListItem, Table } from './block/block.ts';
import { Words } from './words.tsx';

/** Blocks, each drawn again only when it is another one. */
export const Blocks = ({ blocks }: { readonly blocks: readonly Block[] }) => (
  <>
    {blocks.map((block, at) => (
      <BlockView key={at} block={block} />
    ))}
  </>
);

function BlockView({ block }: { readonly block: Block }) {
  const same = useSame(block);
  return useMemo(() => draw(same), [same]);
}

function draw(block: Block): JSX.Element {
  switch (block.type) {
    case 'paragraph':
      return (
        <p>
          <Words text={block.text} isOpen={block.isOpen} />
        </p>
      );
    case 'heading': {
      const Heading = headingTag(block.level);
      return (
        <Heading>
          <Words text={block.text} isOpen={block.isOpen} />
        </Heading>
      );
    }
    case 'code':
      return <CodeBlock text={block.text} language={block.language} isOpen={block.isOpen} />;
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list':
      return <List {...block} />;
    case 'table':
      return <TableView {...block} />;
    case 'details':
      return (
        <details open={block.isUnfolded}>
          <summary>
            <Words text={block.summary} />
          </summary>
          <Blocks blocks={block.blocks} />
        </details>
      );
    case 'comment':
      return (
        <p class="comment">
          <PlainText text={block.text} />
        </p>
      );
    case 'rule':
      return <hr />;
  }
}

/** The page has its own first and second heading. */
const headingTag = (level: number) => (level <= 1 ? 'h3' : level === 2 ? 'h4' : level === 3 ? 'h5' : 'h6');

function List({ start, isLoose, items }: Block & { readonly type: 'list' }) {
  const shown = items.map((item, at) => <Item key={at} item={item} isLoose={isLoose} />);
  return start === undefined ? <ul>{shown}</ul> : <ol start={start === 1 ? undefined : start}>{shown}</ol>;
}

function Item({ item, isLoose }: { readonly item: ListItem; readonly isLoose: boolean }) {
  const same = useSame(item);
  return useMemo(() => {
    const { blocks, isDone } = same;
    const content = isLoose ? <Blocks blocks={blocks} /> : blocks.map(drawTight);
    if (isDone === undefined) return <li>{content}</li>;
    return (
      <li class="task">
        <input type="checkbox" disabled checked={isDone} aria-label={isDone ? 'done' : 'open'} />
        {content}
      </li>
    );
  }, [same, isLoose]);
}

/** One line is a line, not a paragraph of its own. */
const drawTight = (block: Block, at: number): ComponentChildren => (
  <Fragment key={at}>
    {block.type === 'paragraph' ? <Words text={block.text} isOpen={block.isOpen} /> : <BlockView block={block} />}
  </Fragment>
);

function TableView({ aligns, head, rows, isOpen }: Table) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached with keys.
    <div class="wide" tabIndex={0}>
      <table>
        <thead>
          <Row cells={head} aligns={aligns} tag="th" isOpen={false} />
        </thead>
        <tbody>
          {rows.map((cells, at) => (
            <Row key={at} cells={cells} aligns={aligns} tag="td" isOpen={isOpen === true && at === rows.length - 1} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly cells: readonly string[];
  readonly aligns: Table['aligns'];
  readonly tag: 'th' | 'td';
  readonly isOpen: boolean;
}

const Row = ({ cells, aligns, tag: Cell, isOpen }: RowProps) =>
  useMemo(
    () => (
      <tr>
        {cells.map((cell, at) => (
          <Cell key={at} class={aligns[at]}>
            <Words text={cell} isOpen={isOpen && at === cells.length - 1} />
          </Cell>
        ))}
      </tr>
    ),
    [cells, aligns, Cell, isOpen],
  );

/** The object that was there before, as long as another one holds the same. */
function useSame<T extends object>(value: T): T {
  const kept = useRef(value);
  if (!holdsSame(kept.current, value)) kept.current = value;
  return kept.current;
}

function holdsSame(one: object, other: object): boolean {
  if (one === other) return true;
  const entries = Object.entries(one);
  const others = new Map(Object.entries(other));
  return entries.length === others.size && entries.every(([name, value]) => others.get(name) === value);
}
