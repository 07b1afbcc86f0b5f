import { describe, expect, test } from "bun:test"
import { contentKey } from "../../src/dashboard/screens/install/ContentKey.ts"
import { advance } from "../../src/dashboard/api/Call.ts"
import { restoreDraft } from "../../src/dashboard/screens/install/Draft.ts"

describe("Install drafts", () => {
  test("an install draft round-trips, including its id", () => {
    const kept = restoreDraft(null, { url: "https://a.example/b" })
    const back = restoreDraft(JSON.stringify({ ...kept, name: "Shop", answers: { domain: "x" } }), {})
    expect(back).toEqual({ ...kept, name: "Shop", answers: { domain: "x" } })
  })

  test("an unreadable install draft is replaced by the link's values", () => {
    for (const broken of ["{", "3", "null", '{"answers":3,"url":5}']) {
      const { id: _id, ...draft } = restoreDraft(broken, { url: "https://a.example/b", ref: "v1" })
      expect(draft).toEqual({
        url: "https://a.example/b",
        ref: "v1",
        path: ".",
        authConnectionId: "",
        name: "",
        proposedName: "",
        environment: "production",
        answers: {},
        bindings: {}
      })
    }
  })

  test("equal install requests have the same key, and different requests have different keys", () => {
    expect(contentKey({ a: 1 })).toBe(contentKey({ a: 1 }))
    expect(contentKey({ a: 1 })).not.toBe(contentKey({ a: 2 }))
    expect(contentKey("日本")).toMatch(/^[0-9a-f]{16}$/)
  })
})

describe("a coordinator", () => {
  test("an install coordinator advances step by step until there is a plan to review", async () => {
    const phases: Array<string> = []
    const steps = ["creating", "planning", "reviewable"]
    const next = (phase: string) => ({
      id: "p",
      phase,
      nextAction: phase === "reviewable" ? ("review_run" as const) : ("reconcile" as const)
    })
    const last = await advance(
      next("syncing"),
      () => Promise.resolve(next(steps.shift() ?? "reviewable")),
      ({ phase }) => phases.push(phase),
      () => Promise.resolve()
    )
    expect(last.phase).toBe("reviewable")
    expect(phases).toEqual(["syncing", "creating", "planning", "reviewable"])
  })
})
