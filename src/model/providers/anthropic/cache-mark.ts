/** Marks the end of the prefix that the server shall cache. */
export interface CacheMark {
  readonly cache_control?: { readonly type: 'ephemeral' };
}

/** Marks the last of the blocks. */
export const lastMarked = <Block extends object>(blocks: readonly Block[]): (Block & CacheMark)[] =>
  blocks.map((block, index) =>
    index === blocks.length - 1 ? { ...block, cache_control: { type: 'ephemeral' } } : block,
  );
