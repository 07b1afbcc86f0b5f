import { Context } from "effect"

/**
 * The public address under which a host mounts the API next to its own routes, e.g. `https://example.com/svc`. Absent for requests
 * to the service's own origin. Responses that contain the address of the API use the entrance that the request came through.
 */
export const ApiEntrance = Context.Reference<string | undefined>("svc/src/http/ApiEntrance", {
  defaultValue: () => undefined
})
