import { expect, test } from "bun:test"
import {
  approvalProblem,
  type BindingRule,
  type GivenApproval,
  ineligibleBecause,
  type PlanAuthors,
  uselessBecause
} from "../../../../actors/access/approval/ApproverEligibility.ts"
import type { ApprovalProblem, Approver, AuthorPart } from "../../../../schema/records/Approval.ts"
import { ApprovalRuleId, Subject } from "../../../../schema/records/Ids.ts"
import type { Role } from "../../../../schema/records/Workspace.ts"

const letters = (letter: string) => letter.repeat(24)
const subject = (letter: string) => Subject.make(`usr_${letters(letter)}`)
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

const plans = subject("p")
const commits = subject("c")

const startedBy = (approver: Approver): PlanAuthors["planAuthors"] => new Map([[approver, "starter"]])

const approvalOf = (approver: Approver, role: Role): GivenApproval => ({
  approver,
  kind: "person",
  role,
  teamIds: new Set(),
  behind: []
})

test("only admins and owners may approve a plan, even if no rule applies to it", () => {
  const authors = { planAuthors: startedBy(plans), commitAuthors: new Set<Subject>() }
  for (const role of ["owner", "admin"] as const) {
    expect(ineligibleBecause([], approvalOf(plans, role), authors)).toBeUndefined()
  }
  for (const role of ["member", "viewer"] as const) {
    expect(ineligibleBecause([], approvalOf(plans, role), authors)).toBe("role")
  }
  expect(ineligibleBecause([], { ...approvalOf(plans, "owner"), role: undefined }, authors)).toBe("role")
})

test("no approval counts under a rule that excludes the commit's authors while those authors are unknown", () => {
  const strict = rule({ commitAuthorCounts: false })
  const owner = approvalOf(subject("a"), "admin")
  expect(approvalProblem(strict, owner, { planAuthors: startedBy(plans), commitAuthors: "unknown" })).toBe(
    "commit_author_unknown"
  )
  expect(approvalProblem(rule(), owner, { planAuthors: startedBy(plans), commitAuthors: "unknown" })).toBeUndefined()
})

test("an approval is accepted if it counts under at least one of several rules", () => {
  const admin = approvalOf(subject("a"), "admin")
  const both = [rule({ role: "owner" }), rule({ id: ruleId("b"), approvers: 2 })]
  const authors = { planAuthors: startedBy(plans), commitAuthors: new Set<Subject>() }
  expect(uselessBecause(both, admin, authors)).toBeUndefined()
  expect(uselessBecause([rule({ role: "owner" })], admin, authors)).toBe("role")
  expect(uselessBecause([], admin, authors)).toBeUndefined()
})

const maker = subject("x")
const minter = subject("y")
const robot = subject("r")

/** Authors and approvers of the plan, listed by hand. If the rule excludes authors, an author's approval never counts. */
const authorship: ReadonlyArray<
  readonly [
    title: string,
    planAuthors: ReadonlyArray<readonly [Approver, AuthorPart]>,
    approver: Subject,
    behind: ReadonlyArray<Subject>,
    problem: ApprovalProblem | undefined
  ]
> = [
  ["the starter", [[plans, "starter"]], plans, [], "plan_author"],
  ["somebody else", [[plans, "starter"]], minter, [], undefined],
  [
    "the maker of the automation that started it",
    [
      [robot, "starter"],
      [maker, "automation"]
    ],
    maker,
    [],
    "automation_author"
  ],
  [
    "who turned on the auto-update",
    [
      ["service", "starter"],
      [maker, "auto_update"]
    ],
    maker,
    [],
    "auto_update_author"
  ],
  ["an automation that the starter made", [[plans, "starter"]], robot, [plans], "author_automation"],
  [
    "an automation of whoever turned on the auto-update",
    [
      ["service", "starter"],
      [maker, "auto_update"]
    ],
    robot,
    [minter, maker],
    "author_automation"
  ],
  ["an automation of somebody else", [[plans, "starter"]], robot, [minter], undefined],
  ["an automation of an author of the commit", [[plans, "starter"]], robot, [commits], "author_automation"]
]

for (const [title, planAuthors, approver, behind, problem] of authorship) {
  test(`an approval by ${title} ${problem === undefined ? "counts" : "does not count"}`, () => {
    const approval: GivenApproval = {
      approver,
      kind: behind.length > 0 ? "automation" : "person",
      role: "owner",
      teamIds: new Set(),
      behind
    }
    const strict = rule({ planAuthorCounts: false, commitAuthorCounts: false, automationCounts: true })
    const authors = { planAuthors: new Map(planAuthors), commitAuthors: new Set([commits]) }
    expect(approvalProblem(strict, approval, authors)).toBe(problem)
    expect(approvalProblem({ ...strict, planAuthorCounts: true, commitAuthorCounts: true }, approval, authors)).toBe(
      undefined
    )
  })
}
