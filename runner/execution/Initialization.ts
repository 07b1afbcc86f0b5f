import { Effect } from "effect"
import { installsInJson } from "./Installation.ts"
import type { RunJob } from "./RunJob.ts"
import type { RunSession } from "./RunSession.ts"
import { requireSuccess } from "./ToolSuccess.ts"
import { runnerFailure } from "./RunnerFailure.ts"

/** Installs providers. Never fetches modules, because the scan only accepts modules in the tree. */
export const initialize = Effect.fnUntraced(function* (session: RunSession, job: RunJob, lock: "readonly" | "update") {
  yield* session.report.phase("init")
  const end = yield* session.tool({
    phase: "init",
    args: [
      "init",
      "-input=false",
      "-get=false",
      "-reconfigure",
      "-no-color",
      ...(installsInJson(job.tool) ? ["-json"] : []),
      ...(lock === "readonly" ? ["-lockfile=readonly"] : [])
    ],
    access: "install",
    output: { kind: "messages" },
    timeout: session.timing.init,
    grace: session.timing.planGrace
  })
  yield* requireSuccess(end, "init", "init_failed")
  yield* session.providers.settle.pipe(Effect.mapError(({ message }) => runnerFailure("init_failed", "init", message)))
  return end
})
