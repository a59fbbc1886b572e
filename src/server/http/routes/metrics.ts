import { sendText } from '../responses.ts';
import { type Route, readMethods } from '../route.ts';

/** `GET /metrics`: all metrics in the Prometheus format. */
export const metrics: Route = {
  methods: readMethods,
  requires: 'view',
  handle: ({ response, services }) =>
    sendText(response, services.metrics.text(), { type: 'text/plain; version=0.0.4; charset=utf-8' }),
};
