import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted, Schema } from "effect"
import type { ApplyJob, PlanJob, RunJob, timingWith } from "../../../../runner/execution/RunJob.ts"
import type { PlanOutcome } from "../../../../runner/execution/RunOutcome.ts"
import type { ProviderMirror } from "../../../../runner/execution/RunPlace.ts"
import type { RunSink } from "../../../../runner/execution/RunSink.ts"
import { parseState, type StateFile } from "../../../../runner/execution/StateFile.ts"
import type { ToolIdentity } from "../../../../schema/records/Run.ts"
import { closed, type LogStream, ReportedFact, type RunPhase } from "../../../../schema/events/RunEvent.ts"

export const terraform = {
  name: "terraform",
  version: "1.11.4",
  path: Bun.which("terraform") ?? "/usr/local/bin/terraform"
} as const

/** Creates a folder that exists for the duration of the test. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "runner-"))
    chmodSync(folder, 0o711)
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export type Tree = Readonly<Record<string, string>>

/** A job's environment, which is not part of the job's data. */
export interface Around {
  readonly runFolder: string
  readonly cancel: Effect.Effect<void>
  readonly tree: Tree
  readonly mirror: ProviderMirror | undefined
}

/** A job with its environment. `RunPlace` returns `tool.path` as the program. */
export type Placed<Job extends RunJob> = Omit<Job, "tool" | "timing"> &
  Around & {
    readonly tool: ToolIdentity & { readonly path: string }
    readonly timing?: Parameters<typeof timingWith>[0] | undefined
  }

export interface Recorded {
  readonly events: Array<ReportedFact>
  readonly logs: Array<{ readonly phase: RunPhase; readonly stream: LogStream; readonly text: string }>
  readonly checkpoints: Array<StateFile>
}

const decodeFact = Schema.decodeUnknownSync(ReportedFact, closed)

export const recorder = () => {
  const recorded: Recorded = { events: [], logs: [], checkpoints: [] }
  const sink: RunSink = {
    // Checks that each event a runner reports contains only data allowed for its kind.
    event: (kind, data) => Effect.sync(() => void recorded.events.push(decodeFact({ kind, data }))),
    log: (phase, stream, text) => Effect.sync(() => void recorded.logs.push({ phase, stream, text })),
    checkpoint: (checkpoint) =>
      Effect.sync(() => {
        const state = parseState(Redacted.value(checkpoint.state))
        if (state._tag === "Some") recorded.checkpoints.push(state.value)
      })
  }
  return { ...recorded, sink, everything: () => JSON.stringify([recorded.events, recorded.logs]) }
}

let runs = 0

/**
 * Returns a job with defaults for every field that a test does not set. Each call uses a separate run folder below `folder`.
 */
export const runJob = (folder: string, tree: Tree, more: Partial<Placed<RunJob>> = {}): Placed<RunJob> => {
  runs += 1
  return {
    runId: `run_${runs}`,
    runFolder: join(folder, `run-${runs}`),
    tree,
    module: { snapshotDigest: `sha256:${runs}`, path: "." },
    localModules: [],
    tool: terraform,
    credentials: [],
    network: false,
    mirror: undefined,
    cancel: Effect.never,
    ...more
  }
}

/** Selects the module at a path of the tree. */
export const modulePath = (path: string): Pick<RunJob, "module"> => ({ module: { snapshotDigest: "sha256:0", path } })

export const variable = (value: Schema.Json, sensitive = false) => ({ value: Redacted.make(value), sensitive })

export const planJob = (folder: string, tree: Tree, more: Partial<Placed<PlanJob>> = {}): Placed<PlanJob> => ({
  mode: "create_or_update",
  variables: {},
  ...runJob(folder, tree),
  ...more
})

/** Returns a job that applies the plan, with the same job and a different run folder. */
export const applyJob = (
  folder: string,
  plan: Placed<PlanJob>,
  outcome: PlanOutcome,
  more: Partial<Placed<ApplyJob>> = {}
): Placed<ApplyJob> => {
  const { mode: _mode, variables: _variables, sourceBuild: _build, ...common } = plan
  const { runId, runFolder } = runJob(folder, {})
  return {
    ...common,
    runId,
    runFolder,
    planFile: outcome.planFile,
    planDigest: outcome.planDigest,
    secrets: outcome.secrets,
    lockText: outcome.lockText,
    ...(outcome.build === undefined ? {} : { build: outcome.build }),
    ...more
  }
}
