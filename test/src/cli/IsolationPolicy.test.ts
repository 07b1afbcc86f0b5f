import { describe, expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { defaultSandboxSettings, SandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { folder, live, svc } from "./support/CommandLine.ts"

const tool = Bun.which("tofu") ?? Bun.which("terraform")

/** A machine on which no isolation level works. */
const onBareMachine = Effect.provideService(SandboxSettings, { ...defaultSandboxSettings, levels: [] })

interface Step {
  readonly sandbox?: string
}

describe("Missing isolation", () => {
  if (tool !== null)
    live(
      "a machine without isolation can still run the demo with a single command, because the demo uses its own modules",
      () =>
        Effect.gen(function* () {
          const { code, error, out } = yield* svc(["demo", "--json"])
          expect([code, error]).toEqual([0, ""])
          const levels = out.split("\n").flatMap((line): ReadonlyArray<string> => {
            const step: Step = JSON.parse(line)
            return step.sandbox === undefined ? [] : [step.sandbox]
          })
          // Each plan shows its isolation level to reviewers.
          expect(new Set(levels)).toEqual(new Set(["process"]))
        }).pipe(onBareMachine)
    )

  live("a machine without isolation is not healthy, and doctor explains the remedy in one line", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const dataDir = `${yield* folder}/data`
      const { code, out } = yield* svc(["doctor", "--data-dir", dataDir, "--json"])
      expect(code).toBe(1)
      const sandbox = JSON.parse(out).findings.find(({ check }: { readonly check: string }) => check === "sandbox")
      expect(sandbox.status).toBe("error")
      expect(sandbox.message).toStartWith("Runs are refused")
      expect(sandbox.remedy).toBe("Install the 'bubblewrap' package: see docs/operations/isolation.md.")
      expect(yield* files.exists(dataDir)).toBe(false)
    }).pipe(onBareMachine)
  )

  live(
    "a machine without isolation keeps working once the operator turns isolation off, and doctor explains the risk",
    () =>
      Effect.gen(function* () {
        const dataDir = `${yield* folder}/data`
        const { out } = yield* svc(["doctor", "--data-dir", dataDir, "--json", "--runner-isolation", "off"])
        const sandbox = JSON.parse(out).findings.find(({ check }: { readonly check: string }) => check === "sandbox")
        expect(sandbox.status).toBe("warning")
        expect(sandbox.message).toContain("master key")
      }).pipe(onBareMachine)
  )
})

describe("doctor", () => {
  live("doctor tries every isolation level, explains why a level fails, and leaves nothing in the data folder", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const dataDir = `${yield* folder}/data`
      const { out } = yield* svc(["doctor", "--data-dir", dataDir, "--json"])
      const sandbox = JSON.parse(out).findings.find(({ check }: { readonly check: string }) => check === "sandbox")
      for (const level of defaultSandboxSettings.levels) expect(sandbox.message).toMatch(`${level}:`)
      expect(sandbox.message).toContain("Seatbelt: only macOS has it.")
      expect(yield* files.exists(dataDir)).toBe(false)
    })
  )
})
