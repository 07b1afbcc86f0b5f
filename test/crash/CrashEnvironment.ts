import { Schema } from "effect"

/** Where a server is to die: at the n-th passing of a named point. */
export const KillAt = Schema.Struct({ point: Schema.String, passing: Schema.Int })
export type KillAt = typeof KillAt.Type

const paths = Schema.optionalKey(Schema.Array(Schema.String))

/** What the crash suite tells its server by SVC_TEST_CRASH. The paths are what every sandbox may see besides. */
export const CrashEnvironment = Schema.fromJsonString(
  Schema.Struct({ at: Schema.optionalKey(KillAt), readable: paths, writable: paths })
)
export type CrashEnvironment = typeof CrashEnvironment.Type
export const encodeCrashEnvironment = Schema.encodeSync(CrashEnvironment)
