import { Context } from "effect"

/**
 * Public address at which a host application mounts the API among its own routes, such as `https://example.com/svc`. Absent
 * for requests to the origin of svc itself. API URLs in a response start with the address to which the request was sent.
 */
export const MountedBaseUrl = Context.Reference<string | undefined>("svc/src/http/MountedBaseUrl", {
  defaultValue: () => undefined
})
