/** A function of which nothing is known but that it can be called. */
export type UntypedMethod = (this: unknown, ...args: unknown[]) => unknown;

/** Puts a wrapper in a method's place; it keeps what hangs on the original, such as its form for `util.promisify`. */
export function replaceMethod(owner: object, name: string, wrap: (original: UntypedMethod) => UntypedMethod): void {
  const methods = owner as Record<string, UntypedMethod>;
  const original = methods[name];
  if (!original) return;
  methods[name] = Object.defineProperties(wrap(original), Object.getOwnPropertyDescriptors(original));
}
