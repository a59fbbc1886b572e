import type { Handlers } from '../dispatch.ts';

const DEFAULT_FILE_LIMIT = 50;
const MAX_FILE_LIMIT = 1000;

export const files = {
  list_files: async ({ query = '', limit = DEFAULT_FILE_LIMIT }, { agent, signal }) => {
    const { matchPaths } = await import('../../agent/tools/match-paths.ts');
    const folder = agent.session.log.header.cwd;
    const { paths, hasMore } = await matchPaths({ folder, query, limit: Math.min(limit, MAX_FILE_LIMIT), signal });
    return { files: paths.map((path) => ({ path })), hasMore };
  },
} satisfies Partial<Handlers>;
