import { Context } from "effect"

/** The body of such an endpoint is a file of at most this many bytes, not JSON. */
export const RawBody = Context.Reference<{ readonly maxBytes: number } | undefined>("svc/schema/api/RawBody", {
  defaultValue: () => undefined
})
