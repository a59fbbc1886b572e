/**
 * A custom tool that counts words. It reports progress, stops on abort, and returns details that only users see.
 *
 *   tau --mode rpc -e examples/extensions/custom-tool.ts
 */
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { ExtensionAPI } from '@earendil-works/pi-coding-agent';
import { Type } from 'typebox';

export default function customTool(pi: ExtensionAPI): void {
  pi.registerTool({
    name: 'count_words',
    label: 'Count words',
    description: 'Count the words of text files',
    promptGuidelines: ['Use count_words instead of wc when only the number of words is wanted.'],
    parameters: Type.Object({ paths: Type.Array(Type.String(), { description: 'Files, relative to the folder' }) }),

    async execute(_toolCallId, { paths }: { paths: string[] }, signal, onUpdate, ctx) {
      const counts: Record<string, number> = {};
      for (const [index, path] of paths.entries()) {
        let text = '';
        // A stream stops in the middle of a file; `readFile` of Node 26 reads it to its end.
        for await (const chunk of createReadStream(resolve(ctx.cwd, path), { encoding: 'utf8', signal })) text += chunk;
        counts[path] = text.split(/\s+/).filter(Boolean).length;
        onUpdate?.({ content: [{ type: 'text', text: `${index + 1} of ${paths.length} files` }] });
      }
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
      return { content: [{ type: 'text', text: `${total} words` }], details: { counts } };
    },
  });
}
