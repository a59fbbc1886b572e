/** Says that everything up to here is worth keeping for the next request. */
export interface CacheMark {
  readonly cache_control?: { readonly type: 'ephemeral' };
}

/** The same blocks, the last of them marked. */
export const lastMarked = <Block extends object>(blocks: readonly Block[]): (Block & CacheMark)[] =>
  blocks.map((block, index) =>
    index === blocks.length - 1 ? { ...block, cache_control: { type: 'ephemeral' } } : block,
  );
