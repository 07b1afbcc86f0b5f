import { constants } from "node:fs"
import { access, readdir, realpath } from "node:fs/promises"
import { isAbsolute } from "node:path"
import { Effect, Schema } from "effect"
import { RelativePath } from "../../schema/records/Primitives.ts"
import { isConfigurablePath } from "./CliConfiguration.ts"
import { fileOperation } from "./RunFiles.ts"
import type { RunJob } from "./RunJob.ts"
import { RunPlace } from "./RunPlace.ts"
import { runnerFailure } from "./RunnerFailure.ts"
import type { ConcealingControl } from "./ServerPaths.ts"

const isRelativePath = Schema.is(RelativePath)

/** Refuses a job that cannot succeed, before anything is written. Returns the tool's program with links resolved. */
export const checkJob = Effect.fnUntraced(function* (job: RunJob, control: ConcealingControl) {
  const place = yield* RunPlace
  const invalid = (message: string) => runnerFailure("job_invalid", "prepare", message)
  if (!isAbsolute(control.runFolder)) return yield* invalid("The run folder must be an absolute path.")
  if (!isRelativePath(job.module.path)) {
    return yield* invalid(`The module path ${JSON.stringify(job.module.path)} is not canonical.`)
  }
  const mirror = (yield* place.mirror)?.path
  if (mirror !== undefined && !(isAbsolute(mirror) && isConfigurablePath(mirror))) {
    return yield* invalid("The provider mirror must be an absolute path without quotes, backslashes, $ or %.")
  }
  if (mirror !== undefined) {
    yield* fileOperation("find the provider mirror", () => readdir(mirror)).pipe(
      Effect.mapError(() => invalid(`The provider mirror ${mirror} is not a folder that can be read.`))
    )
  }
  // Only the program itself is allowed into the sandbox, so links to it must be resolved first.
  const program = yield* place
    .tool(job.tool)
    .pipe(Effect.mapError(({ message }) => runnerFailure("tool_missing", "prepare", message)))
  control.serverPaths.add(program, "<tool>")
  return yield* fileOperation("find the tool", async () => {
    await access(program, constants.X_OK)
    return await realpath(program)
  }).pipe(
    Effect.tap((real) => Effect.sync(() => control.serverPaths.add(real, "<tool>"))),
    Effect.mapError(() =>
      runnerFailure(
        "tool_missing",
        "prepare",
        `${job.tool.name} ${job.tool.version} is not at ${program}, or it cannot be executed. Install it or configure its path.`
      )
    )
  )
})
