import { Refusal } from '../../protocol/errors.ts';
import type { Agent } from '../agent.ts';
import type { Handlers } from '../dispatch.ts';

export const exporting = {
  export_html: async ({ outputPath }, { agent }) => ({ path: await exportPage(agent, outputPath) }),
} satisfies Partial<Handlers>;

/** Exports the session to an HTML file and returns its path. */
export async function exportPage({ session }: Agent, outputPath: string | undefined): Promise<string> {
  const { path: sessionPath, header, leafId } = session.log;
  if (sessionPath === undefined) throw new Refusal('not_supported', 'Cannot export in-memory session to HTML');
  const { exportSession } = await import('../../store/sessions/export/export-session.ts');
  return exportSession({ sessionPath, outputPath, leafId, cwd: header.cwd });
}
