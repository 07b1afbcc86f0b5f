import { Schema } from "effect"
import { Timestamp } from "./Primitives.ts"

/** A year: the longest accepted interval. */
const mostHours = 8760

const Hours = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostHours }))

const Off = Schema.Struct({ mode: Schema.Literal("off") })
const Every = Schema.Struct({ mode: Schema.Literal("every"), hours: Hours })

/** The interval at which the service compares the real infrastructure with the deployed state, or off. */
export const WorkspaceDriftChecks = Schema.Union([Off, Every]).annotate({ identifier: "WorkspaceDriftChecks" })
export type WorkspaceDriftChecks = typeof WorkspaceDriftChecks.Type

/** The choice for one Capsule; `inherit` follows its Workspace. */
export const CapsuleDriftChecks = Schema.Union([
  Schema.Struct({ mode: Schema.Literal("inherit") }),
  Off,
  Every
]).annotate({ identifier: "CapsuleDriftChecks" })
export type CapsuleDriftChecks = typeof CapsuleDriftChecks.Type

/** The setting in effect for a Capsule: its own choice, and when the next check is due, if any. */
export class DriftCheckPlan extends Schema.Opaque<DriftCheckPlan>()(
  Schema.Struct({
    mode: Schema.Literals(["inherit", "off", "every"]),
    /** Present when its own choice is `every`. */
    hours: Schema.optionalKey(Hours),
    nextAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "DriftCheckPlan" })
) {}
