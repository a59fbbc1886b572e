import { sendText } from '../reply.ts';
import { type Route, reading } from '../route.ts';

/** `GET /metrics`: what the server counts. */
export const metrics: Route = {
  methods: reading,
  needs: 'view',
  answer: ({ response, services }) =>
    sendText(response, services.metrics.text(), { type: 'text/plain; version=0.0.4; charset=utf-8' }),
};
