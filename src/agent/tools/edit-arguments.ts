type Arguments = Readonly<Record<string, unknown>>;

/** The arguments of edit in their one form: models also give a single edit, the list as JSON, or no list at all. */
export function asEditList(args: Arguments): Arguments {
  const { oldText, newText, ...rest } = args;
  const edits = listed(args['edits']);
  if (typeof oldText !== 'string' || typeof newText !== 'string') return { ...args, ...(edits ? { edits } : {}) };
  return { ...rest, edits: [...(edits ?? []), { oldText, newText }] };
}

function listed(edits: unknown): readonly unknown[] | undefined {
  if (typeof edits === 'string') return listed(parsed(edits));
  if (Array.isArray(edits)) return edits;
  return typeof edits === 'object' && edits !== null ? [edits] : undefined;
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? undefined : value;
  } catch {
    return undefined;
  }
}
