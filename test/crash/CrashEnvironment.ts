import { Schema } from "effect"
import { SandboxLevel } from "../../schema/records/Run.ts"

/** The place where a server dies: the n-th time it reaches a named point. */
export const KillAt = Schema.Struct({ point: Schema.String, passing: Schema.Int })
export type KillAt = typeof KillAt.Type

const levels = Schema.optionalKey(Schema.Array(SandboxLevel))
const paths = Schema.optionalKey(Schema.Array(Schema.String))

/**
 * The data that the crash suite passes to its server in SVC_TEST_CRASH. `paths` are additionally visible in every sandbox, of
 * `levels` alone.
 */
export const CrashEnvironment = Schema.fromJsonString(
  Schema.Struct({ at: Schema.optionalKey(KillAt), readable: paths, writable: paths, levels })
)
export type CrashEnvironment = typeof CrashEnvironment.Type
export const encodeCrashEnvironment = Schema.encodeSync(CrashEnvironment)
