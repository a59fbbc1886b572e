import type { Result, SessionEntry } from '../../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import { EncodedJson } from '../response-data.ts';

interface Node {
  readonly entry: SessionEntry;
  readonly children: Node[];
  label?: { readonly text: string; readonly timestamp: string } | undefined;
}

/**
 * Serializes the session tree, siblings by age. An entry whose parent is missing or part of a cycle counts as a root.
 * Not recursive: JSON.stringify would overflow the stack on a long conversation.
 */
export function treeOf(log: SessionLog): Result<'get_tree'> {
  const nodes = new Map(log.entries().map((entry): [string, Node] => [entry.id, { entry, children: [] }]));
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const parentId = log.parentOf(node.entry.id);
    (parentId === null ? roots : (nodes.get(parentId)?.children ?? roots)).push(node);
    if (node.entry.type === 'label') setLabel(nodes.get(node.entry.targetId), node.entry);
  }
  return new EncodedJson<Result<'get_tree'>>(
    `{"tree":${serialize(roots)},"leafId":${JSON.stringify(log.leafId)}}`,
  ).asValue();
}

function setLabel(
  node: Node | undefined,
  { label, timestamp }: { label?: string | undefined; timestamp: string },
): void {
  if (node) node.label = label ? { text: label, timestamp } : undefined;
}

/** Serializes children before parents, without recursion. */
function serialize(roots: readonly Node[]): string {
  const order: Node[] = [];
  const pending = [...roots];
  for (let node = pending.pop(); node; node = pending.pop()) {
    order.push(node);
    pending.push(...node.children);
  }
  const texts = new Map<Node, string>();
  const list = (nodes: readonly Node[]) =>
    `[${nodes
      .toSorted(byAge)
      .map((node) => texts.get(node))
      .join(',')}]`;
  for (const node of order.reverse()) {
    const label = node.label
      ? `,"label":${JSON.stringify(node.label.text)},"labelTimestamp":${JSON.stringify(node.label.timestamp)}`
      : '';
    texts.set(node, `{"entry":${JSON.stringify(node.entry)},"children":${list(node.children)}${label}}`);
    for (const child of node.children) texts.delete(child);
  }
  return list(roots);
}

const byAge = (a: Node, b: Node) => String(a.entry.timestamp).localeCompare(String(b.entry.timestamp));
