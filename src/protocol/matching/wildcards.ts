/** A step of a pattern: an item that matches; with `repeats`, any number of them. */
export interface PatternStep<Item> {
  readonly matches: (item: Item) => boolean;
  readonly repeats?: boolean;
}

/** Any number of any items. */
export const ANYTHING: PatternStep<unknown> = { matches: () => true, repeats: true };

/**
 * Whether the steps match all items. Follows all readings of the pattern at once: each step tests each item at most
 * once, whatever the pattern.
 */
export function matchesSteps<Item>(steps: readonly PatternStep<Item>[], items: Iterable<Item>): boolean {
  // For each position in the steps, the number of the last item after which it was reached.
  const reachedAt = new Int32Array(steps.length + 1).fill(-1);
  let reached: number[] = [];
  let count = 0;
  const reach = (start: number) => {
    // A step that repeats may match nothing.
    for (let position = start; reachedAt[position] !== count; position++) {
      reachedAt[position] = count;
      reached.push(position);
      if (!steps[position]?.repeats) return;
    }
  };
  reach(0);
  for (const item of items) {
    const before = reached;
    reached = [];
    count++;
    for (const position of before) {
      const step = steps[position];
      if (step?.matches(item)) reach(step.repeats ? position : position + 1);
    }
    if (reached.length === 0) return false;
  }
  return reachedAt[steps.length] === count;
}

/** A test for texts against a pattern in which only `*` has a meaning: any number of characters. */
export function wildcardTest(pattern: string): (text: string) => boolean {
  const steps = [...pattern].map((character): PatternStep<string> => {
    return character === '*' ? ANYTHING : { matches: (other) => other === character };
  });
  return (text) => matchesSteps(steps, text);
}
