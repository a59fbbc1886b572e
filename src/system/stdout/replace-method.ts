export type UntypedMethod = (this: unknown, ...args: unknown[]) => unknown;

/** Replaces a method by a wrapper, which keeps the properties of the original, such as its `util.promisify` form. */
export function replaceMethod(owner: object, name: string, wrap: (original: UntypedMethod) => UntypedMethod): void {
  const methods = owner as Record<string, UntypedMethod>;
  const original = methods[name];
  if (!original) return;
  methods[name] = Object.defineProperties(wrap(original), Object.getOwnPropertyDescriptors(original));
}
