import { describe, expect, test } from "bun:test"
import {
  type ApprovalFacts,
  decideApproval,
  waitingWords
} from "../../../../actors/access/approval/ApprovalDecision.ts"
import type { BindingRule, GivenApproval } from "../../../../actors/access/approval/ApproverEligibility.ts"
import type { ApprovalProblem, Approver } from "../../../../schema/records/Approval.ts"
import { ApprovalRuleId, Subject, TeamId } from "../../../../schema/records/Ids.ts"
import type { Role, SubjectKind } from "../../../../schema/records/Workspace.ts"

const letters = (letter: string) => letter.repeat(24)
const subject = (letter: string) => Subject.make(`usr_${letters(letter)}`)
const sre = TeamId.make(`team_${letters("s")}`)
const ruleId = (letter: string) => ApprovalRuleId.make(`apr_${letters(letter)}`)

const rule = (changes: Partial<BindingRule> = {}): BindingRule => ({
  id: ruleId("a"),
  approvers: 1,
  role: "admin",
  planAuthorCounts: true,
  commitAuthorCounts: true,
  automationCounts: false,
  ...changes
})

/** A person, with the properties that a rule can test. */
interface Someone {
  readonly approver: Approver
  readonly kind: SubjectKind
  readonly role: Role | undefined
  readonly inTeam: boolean
}

const startedBy = (approver: Approver): ApprovalFacts["planAuthors"] => new Map([[approver, "starter"]])

const plans = subject("p")
const commits = subject("c")
const people: ReadonlyArray<Someone> = [
  { approver: plans, kind: "person", role: "admin", inTeam: true },
  { approver: commits, kind: "person", role: "owner", inTeam: false },
  { approver: subject("a"), kind: "person", role: "admin", inTeam: false },
  { approver: subject("o"), kind: "person", role: "owner", inTeam: true },
  { approver: subject("m"), kind: "person", role: "member", inTeam: true },
  { approver: subject("g"), kind: "person", role: undefined, inTeam: true },
  { approver: subject("b"), kind: "automation", role: "admin", inTeam: true },
  { approver: "service", kind: "automation", role: undefined, inTeam: false }
]

const given = ({ approver, inTeam, kind, role }: Someone): GivenApproval => ({
  approver,
  kind,
  role,
  teamIds: new Set(inTeam ? [sre] : []),
  behind: []
})

const facts = (
  rules: ReadonlyArray<BindingRule>,
  approvals: ReadonlyArray<GivenApproval>,
  changes: Partial<ApprovalFacts> = {}
): ApprovalFacts => ({ rules, approvals, planAuthors: startedBy(plans), commitAuthors: new Set([commits]), ...changes })

/**
 * An independent model of the rules. It uses set operations to compute the people whom each rule excludes according to the
 * documentation.
 */
const modelApproves = (rules: ReadonlyArray<BindingRule>, approvers: ReadonlyArray<Someone>): boolean => {
  if (rules.length === 0) return approvers.length > 0
  return rules.every((each) => {
    const ranks = ["viewer", "member", "admin", "owner"]
    const left = new Set(approvers)
    for (const one of approvers) {
      const excluded = [
        one.approver !== "service" && ranks.indexOf(one.role ?? "nobody") < ranks.indexOf(each.role),
        each.teamId !== undefined && !one.inTeam,
        !each.planAuthorCounts && one.approver === plans,
        !each.commitAuthorCounts && one.approver === commits,
        !each.automationCounts && one.kind === "automation"
      ]
      if (excluded.some(Boolean)) left.delete(one)
    }
    return left.size >= each.approvers
  })
}

/** Every combination of a rule's fields: 3 x 2 x 2 x 2 x 2 x 2 = 96. */
const combinations: ReadonlyArray<BindingRule> = [1, 2, 3].flatMap((approvers) =>
  (["admin", "owner"] as const).flatMap((role) =>
    [undefined, sre].flatMap((teamId) =>
      [true, false].flatMap((planAuthorCounts) =>
        [true, false].flatMap((commitAuthorCounts) =>
          [true, false].map((automationCounts) =>
            rule({
              approvers,
              role,
              ...(teamId === undefined ? {} : { teamId }),
              planAuthorCounts,
              commitAuthorCounts,
              automationCounts
            })
          )
        )
      )
    )
  )
)

/** Every subset of `people`. */
const sets = Array.from({ length: 2 ** people.length }, (_, bits) =>
  people.filter((_one, at) => (bits >> at) % 2 === 1)
)

describe("Approval decisions", () => {
  test("an approval decision matches the model for each of 96 rules and every set of approvers", () => {
    expect(combinations).toHaveLength(96)
    const wrong = combinations.flatMap((each) =>
      sets.flatMap((approvers) => {
        const { state } = decideApproval(facts([each], approvers.map(given)))
        return (state === "approved") === modelApproves([each], approvers) ? [] : [{ each, approvers }]
      })
    )
    expect(wrong).toEqual([])
  })

  test("an approval decision matches the model for pairs of rules that must both be met", () => {
    const other = combinations.map((each) => ({ ...each, id: ruleId("b") }))
    const some = sets.filter((approvers) => approvers.length <= 4)
    const wrong = combinations.flatMap((each, at) => {
      const pair = [each, other[(at * 37 + 11) % other.length] ?? each]
      return some.flatMap((approvers) => {
        const { state } = decideApproval(facts(pair, approvers.map(given)))
        return (state === "approved") === modelApproves(pair, approvers) ? [] : [{ pair, approvers }]
      })
    })
    expect(wrong).toEqual([])
  })

  test("an additional approval never invalidates earlier approvals, and every unmet requirement is reported", () => {
    for (const each of combinations) {
      for (const approvers of sets) {
        const { state, tallies } = decideApproval(facts([each], approvers.map(given)))
        const [tally] = tallies
        expect(tally?.missing).toBe(Math.max(0, each.approvers - (tally?.approvedBy.length ?? 0)))
        if (state !== "approved") continue
        expect(decideApproval(facts([each], people.map(given))).state).toBe("approved")
      }
    }
  })
})

test("without an approval rule, one approval by anyone is enough", () => {
  expect(decideApproval(facts([], [])).state).toBe("waiting")
  for (const one of people) expect(decideApproval(facts([], [given(one)])).state).toBe("approved")
})

test("two approvals by the same person count once", () => {
  const owner = {
    approver: subject("o"),
    kind: "person",
    role: "owner",
    teamIds: new Set<TeamId>(),
    behind: []
  } as const
  expect(decideApproval(facts([rule({ approvers: 2 })], [owner, owner])).state).toBe("waiting")
})

const rightsLost: ReadonlyArray<readonly [string, Partial<GivenApproval>, ApprovalProblem]> = [
  ["left the Workspace", { role: undefined }, "no_member"],
  ["was lowered to member", { role: "member" }, "role"],
  ["left the team", { teamIds: new Set() }, "team"]
]

for (const [why, lost, problem] of rightsLost) {
  test(`an approval lapses when its approver ${why}`, () => {
    const approval: GivenApproval = {
      approver: subject("o"),
      kind: "person",
      role: "admin",
      teamIds: new Set([sre]),
      behind: []
    }
    const binding = [rule({ teamId: sre })]
    expect(decideApproval(facts(binding, [approval])).state).toBe("approved")
    const decision = decideApproval(facts(binding, [{ ...approval, ...lost }]))
    expect(decision.state).toBe("lapsed")
    expect([...decision.lapsed.values()]).toEqual([problem])
    expect(waitingWords(decision, new Map([[sre, "sre"]]))).toContain(
      "1 more approval by admins and owners of the team sre"
    )
  })
}

test("the service cannot approve its own plan if a rule excludes the plan's author", () => {
  const service: GivenApproval = {
    approver: "service",
    kind: "automation",
    role: undefined,
    teamIds: new Set(),
    behind: []
  }
  const own = { planAuthors: startedBy("service") }
  const named = rule({ automationCounts: true })
  expect(decideApproval(facts([named], [service], own)).state).toBe("approved")
  expect(decideApproval(facts([{ ...named, planAuthorCounts: false }], [service], own)).state).toBe("lapsed")
  expect(decideApproval(facts([rule()], [service], own)).state).toBe("lapsed")
})
