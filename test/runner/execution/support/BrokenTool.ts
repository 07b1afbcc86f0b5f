import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Redacted } from "effect"
import { sha256 } from "../../../../runner/execution/Digest.ts"
import type { ApplyJob, PlanJob } from "../../../../runner/execution/RunJob.ts"
import { type Placed, planJob, runJob } from "./RunnerHarness.ts"

/** A credential that must never appear in any output. */
export const canary = "fault-canary-token-77"

/** Returns a state file with one resource and one Output. */
export const state = (serial: number, lineage = "line") =>
  JSON.stringify({
    version: 4,
    serial,
    lineage,
    outputs: { url: { value: "https://x.test", type: "string" } },
    resources: [{ mode: "managed", instances: [{ attributes: { id: "1" } }] }]
  })

/** The behaviour of the fake tool: shell lines by subcommand. */
type Script = Readonly<Record<string, string>>

const brokenTool = (folder: string, script: Script) => {
  const path = join(folder, "tool")
  const cases = Object.entries(script).map(([command, lines]) => `${command})\n${lines}\n;;`)
  const out = 'for arg in "$@"; do case "$arg" in -out=*) out="${arg#-out=}" ;; esac; done'
  writeFileSync(path, `#!/bin/sh\n${out}\ncase "$1" in\n${cases.join("\n")}\nesac\n`)
  chmodSync(path, 0o755)
  return { name: "terraform", version: "1.11.4", path } as const
}

const credentials = [
  {
    provider: "acme/demo",
    moduleLocalName: "demo",
    connection: "conn",
    values: { DEMO_TOKEN: Redacted.make(canary) },
    files: [],
    config: {},
    argumentNames: {}
  }
]

/** Short time limits, so that a hanging tool is killed quickly. */
export const shortTiming = {
  init: "10 seconds",
  plan: "200 millis",
  planGrace: "100 millis",
  applyGrace: "100 millis"
} as const

/** Returns a plan job for the fake tool. */
export const brokenPlan = (folder: string, script: Script, more: Partial<Placed<PlanJob>> = {}) =>
  planJob(folder, { "main.tf": "" }, { tool: brokenTool(folder, script), credentials, ...more })

/** Returns an apply job for the fake tool, with a base state of serial 1. */
export const brokenApply = (folder: string, script: Script, more: Partial<Placed<ApplyJob>> = {}): Placed<ApplyJob> => {
  const planFile = new TextEncoder().encode("plan")
  return {
    ...runJob(folder, { "main.tf": "" }),
    tool: brokenTool(folder, script),
    credentials,
    planFile: Redacted.make(planFile),
    planDigest: sha256(planFile),
    secrets: { inputs: [], credentials: [], marked: [] },
    state: Redacted.make(new TextEncoder().encode(state(1))),
    ...more
  }
}

/** Returns shell lines that write a file. */
export const heredoc = (path: string, content: string) => `cat > ${path} <<'EOF'\n${content}\nEOF`
