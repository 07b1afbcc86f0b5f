import { Schema } from "effect"

/**
 * Reasons why the objects of a Capsule are uncertain. `left_over_state`: an apply left a state behind that is not the Capsule's.
 * `handed_in_state`: an agent submitted the state of a Run that had been given up. `possibly_created`: an apply that did not
 * finish may have created objects that its state does not contain.
 */
export const UncertainCode = Schema.Literals(["left_over_state", "handed_in_state", "possibly_created"])
export type UncertainCode = typeof UncertainCode.Type

/** A reason why a plan may not include objects that exist. The approval of the plan has to acknowledge its code. */
export class Uncertainty extends Schema.Opaque<Uncertainty>()(
  Schema.Struct({
    code: UncertainCode,
    /** The objects that may exist, and the way to settle it. */
    message: Schema.String,
    /** True if an approval of this plan has acknowledged it. */
    acknowledged: Schema.Boolean
  }).annotate({ identifier: "Uncertainty" })
) {}
