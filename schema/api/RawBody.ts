import { Context } from "effect"

/** Set for an endpoint that receives a file of at most `maxBytes` instead of JSON. */
export const RawBody = Context.Reference<{ readonly maxBytes: number } | undefined>("svc/schema/api/RawBody", {
  defaultValue: () => undefined
})
