import { Effect } from "effect"

/** Serves a platform handler on loopback until the Scope closes, and returns the origin. */
export const fetchServer = (fetch: (request: Request) => Response | Promise<Response>) =>
  Effect.acquireRelease(
    Effect.sync(() => Bun.serve({ hostname: "127.0.0.1", port: 0, fetch })),
    (server) => Effect.promise(() => server.stop(true))
  ).pipe(Effect.map(({ url }) => url.origin))
