import { Refusal } from '../../protocol/errors.ts';
import type { Handlers } from '../dispatch.ts';

export const exporting = {
  export_html: async ({ outputPath }, { agent }) => {
    if (agent.session.log.path === undefined) {
      throw new Refusal('not_supported', 'Cannot export in-memory session to HTML');
    }
    const { exportSession } = await import('../../store/sessions/export/export-session.ts');
    const { path: sessionPath = '', header, leafId } = agent.session.log;
    return { path: await exportSession({ sessionPath, outputPath, leafId, cwd: header.cwd }) };
  },
} satisfies Partial<Handlers>;
