import { TARGET_TOKEN, type Target } from '../server/attack-target.ts';

/** The values of a node's metrics by name and labels, as its page of metrics prints them. */
export async function metricsOf(node: Target): Promise<Readonly<Record<string, number>>> {
  const { body } = await node.get('/metrics', { headers: { authorization: `Bearer ${TARGET_TOKEN}` } });
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}
