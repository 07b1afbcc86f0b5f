import { Schema } from "effect"
import { SandboxLevel } from "../../schema/records/Run.ts"

/**
 * The point at which a server is killed, and the number of times that the server must reach that point. With `SIGSTOP`, the
 * server is frozen instead.
 */
export const KillAt = Schema.Struct({
  point: Schema.String,
  passing: Schema.Int,
  signal: Schema.optionalKey(Schema.Literals(["SIGKILL", "SIGSTOP"]))
})
export type KillAt = typeof KillAt.Type

const levels = Schema.optionalKey(Schema.Array(SandboxLevel))
const paths = Schema.optionalKey(Schema.Array(Schema.String))

/**
 * The data that the crash suite passes to its server in SVC_TEST_CRASH. Every sandbox also mounts `paths` and uses only
 * `levels`. If `usualRechecks` is true, a stream checks for lost authority at the same interval as in the product. The
 * server's wall clock runs `clockOffset` milliseconds ahead.
 */
export const CrashEnvironment = Schema.fromJsonString(
  Schema.Struct({
    at: Schema.optionalKey(KillAt),
    readable: paths,
    writable: paths,
    levels,
    usualRechecks: Schema.optionalKey(Schema.Boolean),
    clockOffset: Schema.optionalKey(Schema.Int)
  })
)
export type CrashEnvironment = typeof CrashEnvironment.Type
export const encodeCrashEnvironment = Schema.encodeSync(CrashEnvironment)
