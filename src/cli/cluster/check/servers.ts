import { fine, problem, warning } from '../../../engine/diagnosis/finding.ts';
import { messageOf } from '../../../protocol/errors.ts';
import type { Finding } from '../../../protocol/generated/vocabulary.ts';
import {
  type ClusterAddress,
  type ClusterConnection,
  connectCluster,
  ServerUnusable,
} from '../../../server/cluster/connection.ts';

// The headers of a record and its largest piece (960 KiB) need this; it is the default of the servers.
const MIN_PAYLOAD_BYTES = 1024 * 1024;

interface CheckedServers {
  readonly findings: readonly Finding[];
  /** The names of the servers that were reached. */
  readonly names: ReadonlySet<string>;
  /** The addresses of those that can be used. */
  readonly working: readonly string[];
  /** How many addresses were given in vain. */
  readonly failed: number;
}

interface ServerAnswer {
  readonly url: string;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  /** Further addresses of the cluster, as the server announces them. */
  readonly others: readonly string[];
  readonly error?: unknown;
  readonly finding: Finding;
}

/** Checks every server that is named, and those that these announce, as far as they can be reached from here. */
export async function checkServers(address: ClusterAddress): Promise<CheckedServers> {
  const named = await Promise.all(address.servers.map((url) => probe(address, url)));
  const ids = new Set(named.map(({ id }) => id));
  const announced = new Set(named.flatMap(({ others }) => others));
  for (const url of address.servers) announced.delete(new URL(url).host);
  const scheme = address.servers.some((url) => url.startsWith('tls:')) ? 'tls' : 'nats';
  const more = (await Promise.all([...announced].map((host) => probe(address, `${scheme}://${host}`)))).filter(
    // An announced address may be valid in the network of the servers only.
    ({ id, error }) => (id === undefined ? error instanceof ServerUnusable : !ids.has(id)),
  );
  const all = [...named, ...more];
  const working = named.filter(({ error }) => error === undefined).map(({ url }) => url);
  return {
    findings: all.map(({ finding }) => finding),
    names: new Set(all.flatMap(({ name }) => name ?? [])),
    working,
    failed: named.length - working.length,
  };
}

async function probe(address: ClusterAddress, url: string): Promise<ServerAnswer> {
  let connection: ClusterConnection;
  try {
    connection = await connectCluster({ ...address, servers: [url] }, 0);
  } catch (error) {
    return { url, others: [], error, finding: problem(`server ${url}`, messageOf(error)) };
  }
  try {
    const {
      server_id: id,
      server_name: name,
      version,
      max_payload: payload = 0,
      connect_urls,
    } = connection.nats.info ?? {};
    // A server without a name has its id as name.
    const check = `server ${name === id ? url : name}`;
    const finding =
      payload < MIN_PAYLOAD_BYTES
        ? problem(check, `max_payload is ${payload} bytes: it must be ${MIN_PAYLOAD_BYTES} at least`)
        : fine(check, `version ${version} at ${url}`);
    return { url, id, name, others: connect_urls ?? [], finding };
  } finally {
    await connection.nats.close();
  }
}

/** A warning for servers of the cluster that were not reached by one kind of address. */
export function warningAbout(
  members: ReadonlySet<string>,
  reached: ReadonlySet<string>,
  { check, advice }: { check: string; advice: string },
): readonly Finding[] {
  const missing = [...members].filter((name) => !reached.has(name));
  return missing.length === 0 ? [] : [warning(check, `${missing.join(', ')} not checked: ${advice}`)];
}
