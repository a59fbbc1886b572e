import { HttpRefusal } from './responses.ts';
import type { HttpExchange, HttpMethod, Route } from './route.ts';
import { DOWNLOADS, download } from './routes/download.ts';
import { login, logout } from './routes/login.ts';
import { page } from './routes/page.ts';
import { folders, health, me, metrics, readiness, sessions } from './routes/read-only.ts';
import type { HttpServices } from './services.ts';

const routes: Readonly<Record<string, Route>> = {
  '/healthz': health,
  '/readyz': readiness,
  '/metrics': metrics,
  '/api/login': login,
  '/api/logout': logout,
  '/api/me': me,
  '/api/sessions': sessions,
  '/api/folders': folders,
};

/** A route and its name for metrics, which never contains codes or unknown paths. */
export interface RouteMatch {
  readonly name: string;
  readonly route: Route | undefined;
}

/** Finds the route of a path below the base path. */
export function matchRoute(path: string, { pageFiles }: Pick<HttpServices, 'pageFiles'>): RouteMatch {
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (route) return { name: path, route };
  if (path.startsWith(DOWNLOADS)) return { name: DOWNLOADS, route: download };
  const file = pageFiles.get(decodePath(path));
  return file ? { name: 'page', route: page(file) } : { name: 'none', route: undefined };
}

/** Runs a route or throws the refusal. */
export async function runRoute(route: Route | undefined, exchange: HttpExchange): Promise<void> {
  if (!route) throw new HttpRefusal(404, 'not_found', 'There is nothing here');
  const { methods, requires } = route;
  if (!methods.includes(exchange.request.method as HttpMethod)) {
    const Allow = methods.join(', ');
    throw new HttpRefusal(405, 'method_not_allowed', `This takes ${Allow} only`, { Allow });
  }
  if (requires === undefined) return route.handle(exchange);
  const { grant } = exchange.admission;
  if (!grant) {
    throw new HttpRefusal(401, 'unauthorized', 'This needs a token or a login', { 'WWW-Authenticate': 'Bearer' });
  }
  if (requires !== 'token' && !grant.scopes.has(requires)) {
    throw new HttpRefusal(403, 'permission_denied', `This needs a token with the scope ${requires}`);
  }
  return route.handle({ ...exchange, grant });
}

/** A malformed path matches no route. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
}
