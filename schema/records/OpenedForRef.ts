import { Schema } from "effect"

/** The kinds of private data that a module's code may read. */
export const PrivateData = Schema.Literals(["inputs", "outputs", "state", "connections"])
export type PrivateData = typeof PrivateData.Type

/**
 * Private data that a plan exposed to code of an unreviewed ref, which is neither the adopted lane nor the Source's default
 * ref. Shown to reviewers.
 */
export class OpenedForRef extends Schema.Opaque<OpenedForRef>()(
  Schema.Struct({
    ref: Schema.String,
    /** `outputs`: Outputs of other Capsules. */
    opened: Schema.Array(PrivateData),
    /** `rule`: the Source or the Connections allow the ref. `other_ref`: an owner or admin started the Run. */
    basis: Schema.Literals(["rule", "other_ref"]),
    /** Absent if no person started the Run. */
    openedBy: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "OpenedForRef" })
) {}
