import { Schema } from "effect"

/** Kinds of private data that a module's code may read. */
export const PrivateData = Schema.Literals(["inputs", "outputs", "state", "connections"])
export type PrivateData = typeof PrivateData.Type

/**
 * Private data that a plan gave to the code of a ref outside the adopted lane and the Source's default ref, shown to its
 * reviewers.
 */
export class OpenedForRef extends Schema.Opaque<OpenedForRef>()(
  Schema.Struct({
    ref: Schema.String,
    /** `outputs`: injected Outputs of other Capsules. */
    opened: Schema.Array(PrivateData),
    /** `rule`: the Source or the Connections allow the ref. `other_ref`: an owner or admin started the Run. */
    basis: Schema.Literals(["rule", "other_ref"]),
    /** The person who started the Run; absent if no person started it. */
    openedBy: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "OpenedForRef" })
) {}
