import { type ComponentChildren, Fragment, type JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { CodeBlock } from '../code/code-block.tsx';
import { PlainText } from '../code/plain-text.tsx';
import type { ListItem, ParsedBlock, TableBlock } from './block/block.ts';
import { InlineView } from './inline-view.tsx';

/** Renders blocks; an unchanged block is not drawn again. */
export const Blocks = ({ blocks }: { readonly blocks: readonly ParsedBlock[] }) => (
  <>
    {blocks.map((block, at) => (
      <BlockView key={at} block={block} />
    ))}
  </>
);

function BlockView({ block }: { readonly block: ParsedBlock }) {
  const stable = useStable(block);
  return useMemo(() => renderBlock(stable), [stable]);
}

function renderBlock(block: ParsedBlock): JSX.Element {
  switch (block.type) {
    case 'paragraph':
      return (
        <p>
          <InlineView text={block.text} isOpen={block.isOpen} />
        </p>
      );
    case 'heading': {
      const Heading = headingTag(block.level);
      return (
        <Heading>
          <InlineView text={block.text} isOpen={block.isOpen} />
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
      return <ListView {...block} />;
    case 'table':
      return <TableView {...block} />;
    case 'details':
      return (
        <details open={block.isUnfolded}>
          <summary>
            <InlineView text={block.summary} />
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

/** h1 and h2 belong to the page. */
const headingTag = (level: number) => (level <= 1 ? 'h3' : level === 2 ? 'h4' : level === 3 ? 'h5' : 'h6');

function ListView({ start, isLoose, items }: ParsedBlock & { readonly type: 'list' }) {
  const shown = items.map((item, at) => <ItemView key={at} item={item} isLoose={isLoose} />);
  return start === undefined ? <ul>{shown}</ul> : <ol start={start === 1 ? undefined : start}>{shown}</ol>;
}

function ItemView({ item, isLoose }: { readonly item: ListItem; readonly isLoose: boolean }) {
  const stable = useStable(item);
  return useMemo(() => {
    const { blocks, isDone } = stable;
    const content = isLoose ? <Blocks blocks={blocks} /> : blocks.map(renderTight);
    if (isDone === undefined) return <li>{content}</li>;
    return (
      <li class="task">
        <input type="checkbox" disabled checked={isDone} aria-label={isDone ? 'done' : 'open'} />
        {content}
      </li>
    );
  }, [stable, isLoose]);
}

/** Paragraphs of tight lists have no element of their own. */
const renderTight = (block: ParsedBlock, at: number): ComponentChildren => (
  <Fragment key={at}>
    {block.type === 'paragraph' ? <InlineView text={block.text} isOpen={block.isOpen} /> : <BlockView block={block} />}
  </Fragment>
);

function TableView({ aligns, head, rows, isOpen }: TableBlock) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
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
  readonly aligns: TableBlock['aligns'];
  readonly tag: 'th' | 'td';
  readonly isOpen: boolean;
}

const Row = ({ cells, aligns, tag: Cell, isOpen }: RowProps) =>
  useMemo(
    () => (
      <tr>
        {cells.map((cell, at) => (
          <Cell key={at} class={aligns[at]}>
            <InlineView text={cell} isOpen={isOpen && at === cells.length - 1} />
          </Cell>
        ))}
      </tr>
    ),
    [cells, aligns, Cell, isOpen],
  );

/** Returns the previous object as long as the new one is shallowly equal. */
function useStable<T extends object>(value: T): T {
  const kept = useRef(value);
  if (!shallowEqual(kept.current, value)) kept.current = value;
  return kept.current;
}

function shallowEqual(one: object, other: object): boolean {
  if (one === other) return true;
  const entries = Object.entries(one);
  const others = new Map(Object.entries(other));
  return entries.length === others.size && entries.every(([name, value]) => others.get(name) === value);
}
