import { Context } from "effect"

/**
 * Public address at which a host application mounts the API among its own routes, such as `https://example.com/svc`. Absent for
 * requests to the server's own origin. Addresses of the API in a response are based on the address of the request.
 */
export const MountedBaseUrl = Context.Reference<string | undefined>("svc/src/http/MountedBaseUrl", {
  defaultValue: () => undefined
})
