import { onCluster } from '../../support/cluster/cluster.mjs';
import { noisePng } from '../../support/noise-image.mjs';

// 32 MB as it is sent: a server accepts frames of 32 MiB.
const SIZE = 24_000_000;

/** A prompt with an image of 24 MB, to its response. */
export const clusterImage = onCluster({
  name: 'cluster-image',
  rounds: 3,

  async samplers(workspace, cluster) {
    const images = [{ type: 'image', data: noisePng(SIZE).toString('base64'), mimeType: 'image/png' }];
    const script = workspace.file('cluster-image.jsonl', '{"text":"I see."}\n');
    const single = await cluster.startSingle({ script });
    const node = await cluster.startNode({ script });
    return { single: () => prompted(single, images), node: () => prompted(node, images) };
  },

  rows({ single, node }) {
    const what = 'prompt of 32 MB to its response, on the owner';
    return [{ what, unit: 'ms', value: node.ms, reference: single.ms, limit: { ratio: 2.5 } }];
  },
});

async function prompted({ connect }, images) {
  const client = await connect();
  const settled = client.until('"type":"agent_settled"');
  const sent = performance.now();
  const ms = (await client.request({ type: 'prompt', message: 'look', images })) - sent;
  await settled;
  client.close();
  return { ms };
}
