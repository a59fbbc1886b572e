import { messageOf } from '../../protocol/errors.ts';
import { warn } from '../../system/terminal-text.ts';
import { type CliArguments, UsageError } from '../flags/flags.ts';
import { printAndExit } from '../stdio.ts';
import { natsAddress } from './nats-flags.ts';

// Commands do not wait for servers that are starting.
const WAIT_MS = 5000;

/** `tau cluster`: creates what the nodes of a cluster need on NATS, or checks it. */
export async function cluster(args: CliArguments): Promise<number> {
  const [, verb, urls, ...others] = args.positionals;
  if (verb !== 'init' && verb !== 'check') throw new UsageError('tau cluster takes init or check');
  if (urls === undefined || others.length > 0)
    throw new UsageError(`tau cluster ${verb} takes the addresses of NATS servers, separated by commas`);
  const { replicas, ...address } = natsAddress(urls, args);
  const maxBytes = verb === 'init' ? sizeFrom(args['max-bytes']) : 0;
  const { connectCluster } = await import('../../server/cluster/connection.ts');
  const { checkLogStream, createBuckets, createLogStream } = await import('../../server/cluster/setup.ts');
  try {
    const connection = await connectCluster({ ...address, name: `tau cluster ${verb}` }, WAIT_MS);
    try {
      if (verb === 'init') {
        await createLogStream(connection, { replicas, maxBytes });
        await createBuckets(connection, { replicas });
      }
      await checkLogStream(connection, replicas);
    } finally {
      await connection.nats.close();
    }
  } catch (error) {
    warn(messageOf(error));
    return 1;
  }
  return printAndExit(verb === 'init' ? 'The cluster is set up.\n' : 'The cluster can be used.\n');
}

const UNITS: Readonly<Record<string, number>> = { M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

function sizeFrom(text: string | undefined): number {
  const [, number, unit = ''] = /^(\d{1,6})([MGT])$/.exec(text ?? '') ?? [];
  if (number === undefined) throw new UsageError('tau cluster init requires --max-bytes, such as 200G');
  return Number(number) * (UNITS[unit] ?? 0);
}
