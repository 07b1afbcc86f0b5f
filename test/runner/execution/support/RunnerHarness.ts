import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Redacted, type Schema } from "effect"
import type { ApplyJob, ExtractionFailed, PlanJob, RunJob } from "../../../../runner/execution/RunJob.ts"
import { ModuleRunner } from "../../../../runner/execution/ModuleRunner.ts"
import type { PlanOutcome } from "../../../../runner/execution/RunOutcome.ts"
import type { EventData, RunSink } from "../../../../runner/execution/RunSink.ts"
import { parseState, type StateFile } from "../../../../runner/execution/StateFile.ts"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import {
  defaultSandboxSettings,
  SandboxSettings,
  type SandboxSettingsShape
} from "../../../../runner/sandbox/SandboxSettings.ts"
import type { LogStream, RunEventKind, RunPhase } from "../../../../schema/events/RunEvent.ts"

export const terraform = {
  name: "terraform",
  version: "1.11.4",
  path: Bun.which("terraform") ?? "/usr/local/bin/terraform"
} as const

export const runnerWith = (settings: Partial<SandboxSettingsShape> = {}) =>
  ModuleRunner.layer.pipe(
    Layer.provideMerge(Sandbox.layer),
    Layer.provide(Layer.succeed(SandboxSettings, { ...defaultSandboxSettings, ...settings })),
    Layer.provide(NodeServices.layer)
  )

/** A folder that lives as long as the test. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "runner-"))
    chmodSync(folder, 0o711)
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export type Tree = Readonly<Record<string, string>>

export const extract =
  (tree: Tree) =>
  (target: string): Effect.Effect<void, ExtractionFailed> =>
    Effect.sync(() => {
      for (const [path, content] of Object.entries(tree)) {
        mkdirSync(dirname(join(target, path)), { recursive: true })
        writeFileSync(join(target, path), content)
      }
    })

export interface Recorded {
  readonly events: Array<{ readonly kind: RunEventKind; readonly data: EventData }>
  readonly logs: Array<{ readonly phase: RunPhase; readonly stream: LogStream; readonly text: string }>
  readonly checkpoints: Array<StateFile>
}

export const recorder = () => {
  const recorded: Recorded = { events: [], logs: [], checkpoints: [] }
  const sink: RunSink = {
    event: (kind, data) => Effect.sync(() => void recorded.events.push({ kind, data })),
    log: (phase, stream, text) => Effect.sync(() => void recorded.logs.push({ phase, stream, text })),
    checkpoint: (bytes) =>
      Effect.sync(() => {
        const state = parseState(Redacted.value(bytes))
        if (state._tag === "Some") recorded.checkpoints.push(state.value)
      })
  }
  return { ...recorded, sink, everything: () => JSON.stringify([recorded.events, recorded.logs]) }
}

let runs = 0

/** A job with everything that a test does not care about. Each call has a run folder of its own below `folder`. */
export const runJob = (folder: string, tree: Tree, more: Partial<RunJob> = {}): RunJob => {
  runs += 1
  return {
    runId: `run_${runs}`,
    runFolder: join(folder, `run-${runs}`),
    extractModule: extract(tree),
    modulePath: ".",
    localModules: [],
    tool: terraform,
    credentials: [],
    network: false,
    cancel: Effect.never,
    ...more
  }
}

export const variable = (value: Schema.Json, sensitive = false) => ({ value: Redacted.make(value), sensitive })

export const planJob = (folder: string, tree: Tree, more: Partial<PlanJob> = {}): PlanJob => ({
  mode: "create_or_update",
  variables: {},
  ...runJob(folder, tree),
  ...more
})

/** The apply that belongs to a plan: same job, another run folder. */
export const applyJob = (
  folder: string,
  plan: PlanJob,
  outcome: PlanOutcome,
  more: Partial<ApplyJob> = {}
): ApplyJob => {
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
