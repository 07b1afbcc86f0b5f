import { Effect } from "effect"

/** A loopback server for the Scope that responds using a platform handler. Returns its origin. */
export const fetchServer = (fetch: (request: Request) => Response | Promise<Response>) =>
  Effect.acquireRelease(
    Effect.sync(() => Bun.serve({ hostname: "127.0.0.1", port: 0, fetch })),
    (server) => Effect.promise(() => server.stop(true))
  ).pipe(Effect.map(({ url }) => url.origin))
