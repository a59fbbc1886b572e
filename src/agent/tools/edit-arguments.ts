type EditArguments = Readonly<Record<string, unknown>>;

/** Normalizes the arguments of edit: models also send a single edit, the list as JSON, or no list. */
export function normalizeEditArguments(args: EditArguments): EditArguments {
  const { oldText, newText, ...rest } = args;
  const edits = toEditList(args['edits']);
  if (typeof oldText !== 'string' || typeof newText !== 'string') return { ...args, ...(edits ? { edits } : {}) };
  return { ...rest, edits: [...(edits ?? []), { oldText, newText }] };
}

function toEditList(edits: unknown): readonly unknown[] | undefined {
  if (typeof edits === 'string') return toEditList(parseJson(edits));
  if (Array.isArray(edits)) return edits;
  return typeof edits === 'object' && edits !== null ? [edits] : undefined;
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? undefined : value;
  } catch {
    return undefined;
  }
}
