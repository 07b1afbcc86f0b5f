import { describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import {
  appliedEvidence,
  capsuleAfter,
  isNewState,
  refreshedCapsule,
  rememberedSecrets
} from "../../../../actors/running/execution/AppliedCapsule.ts"
import { allPrivate, type ApplyResult, errorOf, resultOf } from "../../../../actors/running/execution/ApplyResult.ts"
import type { PreparedApply } from "../../../../actors/running/execution/PreparationSchemas.ts"
import type { ApplyOutcome, StateOutput } from "../../../../runner/execution/RunOutcome.ts"
import { namedStateVersion } from "../../../support/NamedIds.ts"

const state = Redacted.make(new TextEncoder().encode("{}"))
const tool = { name: "opentofu", version: "1.10.0" } as const
const prepared: PreparedApply = { evidence: { tool, providerResolutions: [] }, tool, lockText: "provider {}" }

const result = (changes: Partial<ApplyResult> = {}): ApplyResult => ({
  exit: "succeeded",
  state,
  lineage: "one",
  serial: 2,
  resourceCount: 1,
  outputs: [],
  changedAnything: true,
  possiblyCreated: [],
  sandboxKilled: false,
  evidence: {},
  ...changes
})

const output = (name: string, value: string, sensitive = false): StateOutput => ({
  name,
  type: "string",
  value: Redacted.make(value),
  sensitive
})

const capsule = { current_state_generation: 4, drift_checked_at: null, tool_name: null }

describe("Apply outcomes", () => {
  test("a successful apply advances the state, and records the tool and the provider lock from its preparation", () => {
    expect(capsuleAfter("apply", capsule, result(), prepared, namedStateVersion("new"))).toEqual({
      current_state_version_id: namedStateVersion("new"),
      current_state_generation: 5,
      status: "active",
      runtime_safety: "safe",
      tool_name: "opentofu",
      provider_lock: "provider {}",
      public_endpoint: null,
      drift_status: "unknown"
    })
  })

  test("an apply resolves drift that a check found", () => {
    const checked = { ...capsule, drift_checked_at: "2026-01-01T00:00:00.000Z" }
    expect(capsuleAfter("apply", checked, result(), prepared, namedStateVersion("new"))).toMatchObject({
      drift_status: "none"
    })
  })

  test("a Capsule keeps its tool if the apply has no preparation", () => {
    const known = { ...capsule, tool_name: "terraform" as const }
    expect(capsuleAfter("apply", known, result(), undefined, namedStateVersion("new"))).toMatchObject({
      tool_name: "terraform",
      provider_lock: null
    })
  })

  test("a Capsule's endpoint must be a public https Output", () => {
    const endpointOf = (...outputs: ReadonlyArray<StateOutput>) =>
      capsuleAfter("apply", capsule, result({ outputs }), prepared, namedStateVersion("new"))["public_endpoint"]
    const address = "https://app.example.test"
    expect(endpointOf(output("url", address))).toBe(address)
    expect(endpointOf(output("url", address, true))).toBeNull()
    expect(endpointOf(output("url", "http://app.example.test"))).toBeNull()
    expect(endpointOf(output("url", "https://other.example.test"), output("public_endpoint", address))).toBe(address)
  })

  test("a destroy apply ends the Capsule", () => {
    expect(capsuleAfter("destroy_apply", capsule, result(), prepared, namedStateVersion("new"))).toMatchObject({
      status: "destroyed",
      public_endpoint: null,
      drift_status: "none"
    })
  })

  test("accepting drift advances the state but never changes the status or safety, even if the tool fails", () => {
    const checked = { ...capsule, drift_checked_at: "2026-01-01T00:00:00.000Z" }
    expect(refreshedCapsule(checked, result(), namedStateVersion("new"))).toEqual({
      current_state_version_id: namedStateVersion("new"),
      current_state_generation: 5,
      public_endpoint: null,
      drift_status: "none"
    })
    const killed = result({ exit: "killed", sandboxKilled: true, changedAnything: false })
    expect(refreshedCapsule(checked, killed, undefined)).toEqual({})
  })

  const nothing = { exit: "failed", changedAnything: false } as const
  test("a failed apply that changed nothing leaves the Capsule unchanged", () => {
    expect(capsuleAfter("apply", capsule, result(nothing), prepared, undefined)).toEqual({})
  })

  for (const doubt of [
    { changedAnything: true },
    { possiblyCreated: ["a.b"] },
    { sandboxKilled: true },
    { stateProblem: "unreadable" as const }
  ]) {
    test(`a failed apply with ${Object.keys(doubt).join()} is recorded as uncertain`, () => {
      expect(capsuleAfter("apply", capsule, result({ ...nothing, ...doubt }), prepared, undefined)).toEqual({
        status: "error",
        runtime_safety: "unknown"
      })
    })
  }
})

test("an apply's state is new if the apply succeeded or changed something, and the state has a lineage", () => {
  expect(isNewState(result())).toBe(true)
  expect(isNewState(result({ changedAnything: false }))).toBe(true)
  expect(isNewState(result({ exit: "failed" }))).toBe(true)
  expect(isNewState(result({ exit: "failed", changedAnything: false }))).toBe(false)
  expect(isNewState(result({ lineage: undefined }))).toBe(false)
  expect(isNewState(result({ state: undefined }))).toBe(false)
})

test("an apply's evidence combines preparation and observation, and the observation takes precedence", () => {
  const seen = { severity: "error" as const, summary: "seen" }
  const noted = { severity: "warning" as const, summary: "noted" }
  const newer = { name: "opentofu", version: "1.10.1" } as const
  const evidence = { tool: newer, diagnostics: [seen] }
  expect(appliedEvidence(prepared, { evidence, possiblyCreated: ["a.b"] }, [noted])).toEqual({
    providerResolutions: [],
    tool: newer,
    diagnostics: [seen, noted],
    possiblyCreated: ["a.b"]
  })
  // If nobody observed the end of an apply, the evidence from its preparation still counts.
  expect(appliedEvidence(prepared, { evidence: {}, possiblyCreated: [] }, [])).toMatchObject(prepared.evidence)
  expect(appliedEvidence(undefined, { evidence: {}, possiblyCreated: [] }, [])).toEqual({
    diagnostics: [],
    possiblyCreated: []
  })
})

test("earlier secrets are listed after newer ones, without duplicates and up to a limit", () => {
  const secret = (text: string, origin: string) => ({ origin, value: Redacted.make(text) })
  const kept = rememberedSecrets([secret("b", "var.new")], [secret("b", "var.old"), secret("a", "var.old")])
  expect(kept.map(({ origin, value }) => [Redacted.value(value), origin])).toEqual([
    ["b", "var.new"],
    ["a", "var.old"]
  ])
  const many = Array.from({ length: 5_000 }, (_, index) => secret(`secret ${index}`, "var.many"))
  expect(rememberedSecrets([], many)).toHaveLength(4_096)
  expect(rememberedSecrets([secret("x".repeat(600 * 1024), "var.long")], [secret("y", "var.short")])).toHaveLength(1)
})

describe("Apply results", () => {
  const outcome: ApplyOutcome = {
    tool,
    sandboxLevel: "process",
    envNames: ["TOKEN"],
    diagnostics: [],
    exit: "failed",
    state,
    lineage: "one",
    serial: 2,
    resourceCount: 1,
    outputs: [output("url", "x")],
    changedAnything: true,
    possiblyCreated: ["a.b"],
    sandboxKilled: true,
    limit: { code: "memory_limit", message: "Too much memory." }
  }

  test("an apply result contains the runner's observation and the Outputs to publish", () => {
    const outputs = allPrivate(outcome.outputs)
    expect(outputs.map(({ sensitive }) => sensitive)).toEqual([true])
    const { envNames: _, limit, outputs: __, sandboxLevel: ___, tool: used, diagnostics, ...seen } = outcome
    expect(resultOf(outcome, outputs)).toMatchObject({
      ...seen,
      outputs,
      evidence: { tool: used, diagnostics },
      error: limit
    })
  })

  test("an apply result has an explicit error, or an error derived from the apply's outcome", () => {
    expect(errorOf({ exit: "failed", error: outcome.limit })).toEqual({
      code: "memory_limit",
      message: "Too much memory."
    })
    expect(errorOf({ exit: "timed_out" }).code).toBe("apply_timed_out")
    expect(errorOf({ exit: "killed" }).code).toBe("apply_killed")
    expect(errorOf({ exit: "failed" }).code).toBe("apply_failed")
  })

  test("an apply result describes the state that was found, and mentions a left-over state only if one was kept", () => {
    const state = Redacted.make(new Uint8Array([1]))
    const failed = { exit: "failed", stateProblem: "unreadable" } as const
    const messages = [
      errorOf({ exit: "failed", state }),
      errorOf({ ...failed, state }, true),
      errorOf({ ...failed, state }),
      errorOf(failed, true),
      errorOf(failed)
    ].map(({ message }) => message)
    expect(messages.map((message) => /left-over states/.test(message))).toEqual([false, true, false, true, false])
    expect(messages.map((message) => /did not leave a state/.test(message))).toEqual([false, false, false, true, true])
    expect(messages.map((message) => /was saved/.test(message))).toEqual([false, true, true, false, false])
    expect(new Set(messages).size).toBe(messages.length)
  })
})
