import { Context } from "effect"

/**
 * The public address under which a host mounts the API next to its own routes, e.g. `https://example.com/svc`. Absent for requests
 * to the service's own origin. Responses that contain the address of the API use the mounted URL that the request came through.
 */
export const MountedBaseUrl = Context.Reference<string | undefined>("svc/src/http/MountedBaseUrl", {
  defaultValue: () => undefined
})
