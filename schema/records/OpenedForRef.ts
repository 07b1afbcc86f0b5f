import { Schema } from "effect"

/** Kinds of private data that a module may compute with. */
export const PrivateData = Schema.Literals(["inputs", "outputs", "state", "connections"])
export type PrivateData = typeof PrivateData.Type

/**
 * The private data that a plan opened for the code of a ref outside the adopted lane and the Source's default ref, shown to its
 * reviewers.
 */
export class OpenedForRef extends Schema.Opaque<OpenedForRef>()(
  Schema.Struct({
    ref: Schema.String,
    /** `outputs`: injected Outputs of other Capsules. */
    opened: Schema.Array(PrivateData),
    /** `rule`: the Source or the Connections allow the ref. `other_ref`: an owner or admin started the Run. */
    basis: Schema.Literals(["rule", "other_ref"]),
    /** Who started the Run; absent for a Run that nobody started. */
    openedBy: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "OpenedForRef" })
) {}
