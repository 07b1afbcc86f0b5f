import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { decideUse, type UseAttempt } from "../../../../actors/inputs/connection/ConnectionUse.ts"
import { type ConnectionUse, defaultConnectionUse, type UseRole } from "../../../../schema/records/ConnectionUse.ts"
import { CredentialOrigin } from "../../../../schema/records/CredentialOrigin.ts"
import { ProjectId } from "../../../../schema/records/Ids.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import type { Role } from "../../../../schema/records/Workspace.ts"

const projects = ["a", "b"].map((letter) => ProjectId.make(`prj_${letter.repeat(24)}`))
const urls = [
  "https://git.example.com/team/app.git",
  "https://git.example.com/team-two/app.git",
  "https://git.example.com/app.git",
  "https://git.example.com.evil.test/team/app.git"
]
const origins = [
  "https://git.example.com",
  "https://git.example.com/team/",
  "https://git.example.com/team/app.git/"
].map((origin) => CredentialOrigin.make(origin))
const paths = [".", "modules/app"].map((path) => RelativePath.make(path))
const refs = ["HEAD", "main", "refs/heads/main", "topic"]

const some = <A>(values: ReadonlyArray<A>) => fc.subarray([...values], { minLength: 1 })
const perhaps = <A>(values: fc.Arbitrary<A>) => fc.option(values, { nil: undefined })

const rules: fc.Arbitrary<ConnectionUse> = fc
  .record({
    roles: some<UseRole>(["owner", "admin", "member"]),
    projectIds: perhaps(some(projects)),
    modules: perhaps(
      fc.array(fc.record({ origin: fc.constantFrom(...origins), path: fc.constantFrom(...paths) }), { minLength: 1 })
    ),
    refs: perhaps(some(refs))
  })
  .map(({ modules, projectIds, refs: named, roles }) => ({
    roles,
    ...(projectIds === undefined ? {} : { projectIds }),
    ...(modules === undefined ? {} : { modules }),
    ...(named === undefined ? {} : { refs: named })
  }))

const attempts: fc.Arbitrary<UseAttempt> = fc.record({
  role: fc.constantFrom<Role | undefined>("owner", "admin", "member", "viewer", undefined),
  automatic: fc.boolean(),
  projectId: fc.constantFrom(...projects, undefined),
  module: perhaps(fc.record({ url: fc.constantFrom(...urls), path: fc.constantFrom(...paths, undefined) })),
  ref: fc.constantFrom(...refs),
  defaultRefs: fc.subarray(refs),
  isOfLane: fc.boolean()
})

const always = (property: (rule: ConnectionUse, attempt: UseAttempt) => void) =>
  fc.assert(fc.property(rules, attempts, property), { numRuns: 3000 })

describe("Connection use", () => {
  test("viewers and people outside the Workspace cannot use a Connection, and members can use it only if its rule permits them", () => {
    always((rule, attempt) => {
      const { allowed } = decideUse(rule, attempt)
      if (attempt.role === undefined || attempt.role === "viewer") expect(allowed).toBe(false)
      if (attempt.role === "member" && !rule.roles.includes("member")) expect(allowed).toBe(false)
      if (attempt.role === "admin" && rule.roles.every((role) => role === "owner")) expect(allowed).toBe(false)
    })
  })

  test("a Connection's restrictions to Projects and modules apply to everybody", () => {
    always((rule, attempt) => {
      if (!decideUse(rule, attempt).allowed) return
      if (rule.projectIds !== undefined) expect(rule.projectIds.map(String)).toContain(attempt.projectId ?? "")
      if (rule.modules === undefined) return
      const { module } = attempt
      const matching = rule.modules.filter(
        ({ origin, path }) =>
          `${module?.url}/`.startsWith(`${origin.replace(/\/$/, "")}/`) && (module?.path ?? path) === path
      )
      expect(matching.length).toBeGreaterThan(0)
    })
  })

  test("if the rule of a Connection does not permit a ref, an owner or admin can still use the ref in person, but automation cannot", () => {
    always((rule, attempt) => {
      const decision = decideUse(rule, attempt)
      if (!decision.allowed) return
      const ofLane = rule.refs === undefined && attempt.isOfLane
      const named = ofLane || (rule.refs ?? attempt.defaultRefs).includes(attempt.ref)
      expect(decision.basis).toBe(named ? "rule" : "other_ref")
      if (named) return
      expect(attempt.automatic).toBe(false)
      expect(["owner", "admin"]).toContain(attempt.role ?? "")
    })
  })

  test("automation has no more permissions than the person responsible for it", () => {
    always((rule, attempt) => {
      if (!decideUse(rule, { ...attempt, automatic: true }).allowed) return
      expect(decideUse(rule, { ...attempt, automatic: false })).toMatchObject({ allowed: true, basis: "rule" })
    })
  })

  test("adding a restriction never extends permissions, and a higher role never reduces them", () => {
    fc.assert(
      fc.property(rules, rules, attempts, (rule, other, attempt) => {
        const narrowed: ConnectionUse = {
          ...rule,
          ...(rule.projectIds === undefined && other.projectIds !== undefined ? { projectIds: other.projectIds } : {}),
          ...(rule.modules === undefined && other.modules !== undefined ? { modules: other.modules } : {})
        }
        if (decideUse(narrowed, attempt).allowed) expect(decideUse(rule, attempt).allowed).toBe(true)
        if (decideUse(rule, { ...attempt, role: "member" }).allowed) {
          expect(decideUse(rule, { ...attempt, role: "admin" }).allowed).toBe(true)
          expect(decideUse(rule, { ...attempt, role: "owner" }).allowed).toBe(true)
        }
      }),
      { numRuns: 3000 }
    )
  })

  test.each([
    ["https://git.example.com", "https://git.example.com/team/app.git", true],
    ["https://git.example.com", "https://git.example.com:8443/team/app.git", false],
    ["https://git.example.com", "http://git.example.com/team/app.git", false],
    ["https://git.example.com", "https://git.example.com.evil.test/team/app.git", false],
    ["https://git.example.com/team/", "https://git.example.com/team/app.git", true],
    ["https://git.example.com/team/", "https://git.example.com/team-two/app.git", false],
    ["https://git.example.com/team/", "https://git.example.com/team/../other/app.git", false],
    ["https://git.example.com/team/app.git/", "https://git.example.com/team/app.git", true],
    ["https://git.example.com/team/app.git/", "https://git.example.com/team/", false]
  ])("a rule for modules of %s decides about %s: %p", (origin, url, allowed) => {
    const rule: ConnectionUse = {
      roles: ["member"],
      modules: [{ origin: CredentialOrigin.make(origin), path: RelativePath.make(".") }]
    }
    const attempt: UseAttempt = {
      role: "member",
      automatic: false,
      module: { url, path: "." },
      ref: "main",
      defaultRefs: ["main"],
      isOfLane: false
    }
    expect(decideUse(rule, attempt).allowed).toBe(allowed)
  })

  test("without a rule, only owners and admins may use a Connection", () => {
    const attempt = { automatic: false, ref: "main", defaultRefs: ["main"], isOfLane: false } as const
    const mayUse = (role: Role) => decideUse(defaultConnectionUse, { ...attempt, role }).allowed
    expect([mayUse("owner"), mayUse("admin"), mayUse("member"), mayUse("viewer")]).toEqual([true, true, false, false])
  })
})
