import type { Mutant } from "./Mutant.ts"

const decision = "actors/access/approval/ApprovalDecision.ts"
const eligibility = "actors/access/approval/ApproverEligibility.ts"
const decided = "test/actors/access/approval/ApprovalDecision.test.ts"
const ways = "test/actors/access/approval/WaysToApply.test.ts"
const eligible = "test/actors/access/approval/ApproverEligibility.test.ts"
const authors = "test/actors/access/approval/PlanAuthors.test.ts"
const approvals = "test/actors/access/approval/Approvals.test.ts"
const uncertain = "test/actors/access/approval/UncertainGround.test.ts"

/** Mutants of the conditions for an apply, in the rule and in each check. */
export const approvalMutants: ReadonlyArray<Mutant> = [
  {
    name: "uncertain ground: an approval names its codes",
    file: "actors/access/approval/Approvals.ts",
    text: `if (unnamed !== undefined) return yield* failedPrecondition(\`Not approved. \${unnamed}\`)
        const at`,
    broken: "const at",
    test: uncertain
  },
  {
    name: "uncertain ground: the service acknowledges nothing",
    file: "actors/access/approval/Approvals.ts",
    text: `approver === "service" || !acknowledged.includes(code)`,
    broken: `approver !== "service" && !acknowledged.includes(code)`,
    test: uncertain
  },
  {
    name: "uncertain ground: an apply looks again",
    file: "actors/access/approval/Approvals.ts",
    text: "groundWords(open) ?? (rules.length === 0",
    broken: "(rules.length === 0",
    test: uncertain
  },
  {
    name: "uncertain ground: an acknowledgement covers one state",
    file: "actors/access/approval/UncertainGround.ts",
    text: "key: `${code}:${id}`",
    broken: "key: code",
    test: uncertain
  },
  {
    name: "uncertain ground: a later success ends it",
    file: "actors/access/approval/UncertainGround.ts",
    text: "if (succeeded.length > 0 || adopted.length > 0) return found",
    broken: "if (adopted.length > 0) return found",
    test: uncertain
  },
  {
    name: "approvals of the same moment keep their order",
    file: "actors/access/approval/Approvals.ts",
    text: "nowAfter(given.at(-1)?.created_at)",
    broken: "nowAfter(given.at(given.length)?.created_at)",
    test: approvals
  },
  {
    name: "automation counts only where a rule names it",
    file: eligibility,
    text: `if (kind === "automation" && !rule.automationCounts) return "automation"`,
    broken: `if (kind === "automation" && rule.approvers > 99) return "automation"`,
    test: decided
  },
  {
    name: "an approver without a membership",
    file: eligibility,
    text: `if (role === undefined) return "no_member"`,
    broken: `if (role === undefined) return undefined`,
    test: decided
  },
  {
    name: "the role of an approver",
    file: eligibility,
    text: `if (!roleAtLeast(role, rule.role)) return "role"`,
    broken: `if (!roleAtLeast(role, "viewer")) return "role"`,
    test: decided
  },
  {
    name: "the team of an approver",
    file: eligibility,
    text: `if (rule.teamId !== undefined && !teamIds.has(rule.teamId)) return "team"`,
    broken: `if (rule.teamId !== undefined && teamIds.size > 99) return "team"`,
    test: decided
  },
  {
    name: "the author of a plan",
    file: eligibility,
    text: `if (part !== undefined) return authorProblems[part]`,
    broken: `if (part === undefined) return authorProblems.starter`,
    test: eligible
  },
  {
    name: "an automation of the author of a plan",
    file: eligibility,
    text: `if (behind.some((person) => planAuthors.has(person))) return "author_automation"`,
    broken: `if (behind.some((person) => planAuthors.size > 99)) return "author_automation"`,
    test: eligible
  },
  {
    name: "an automation of an author of the commit",
    file: eligibility,
    text: `if (behind.some((person) => commitAuthors.has(person))) return "author_automation"`,
    broken: `if (behind.some((person) => commitAuthors.size > 99)) return "author_automation"`,
    test: eligible
  },
  {
    name: "the people behind an automation that starts a plan are its authors",
    file: "actors/access/approval/PlanAuthors.ts",
    text: `add(yield* peopleBehind({ subject: createdBy, tokenId }), "automation")`,
    broken: `add([], "automation")`,
    test: authors
  },
  {
    name: "the people behind auto-update are authors of its plans",
    file: "actors/access/approval/PlanAuthors.ts",
    text: `add(followingAuthors(capsule), "auto_update")`,
    broken: `add([], "auto_update")`,
    test: authors
  },
  {
    name: "whoever turned auto-update on stays an author when somebody else changes it",
    file: "actors/access/approval/PlanAuthors.ts",
    text: "return [...turnedOnBy, ...changedBy]",
    broken: "return turnedOnBy.length > 99 ? [] : changedBy",
    test: authors
  },
  {
    name: "whoever minted the token is behind an automation",
    file: "actors/access/account/PeopleBehind.ts",
    text: "new Set([...makers, ...minters])",
    broken: "new Set([...makers, ...minters.slice(1)])",
    test: authors
  },
  {
    name: "whoever made an automation that made an automation is behind it",
    file: "actors/access/account/AutomationSubjects.ts",
    text: "const madeBy = [...own, ...(yield* peopleBehind(maker))]",
    broken: "const madeBy = [...own, ...(yield* peopleBehind(maker)).slice(9)]",
    test: authors
  },
  {
    name: "the authors of a plan are recorded when it is created",
    file: "actors/access/approval/PlanAuthors.ts",
    text: "if (rows.length > 0) return",
    broken: "if (rows.length > 99) return",
    test: authors
  },
  {
    name: "an author of the commit",
    file: eligibility,
    text: `return commitAuthors.has(approver) ? "commit_author" : undefined`,
    broken: `return commitAuthors.size > 99 ? "commit_author" : undefined`,
    test: decided
  },
  {
    name: "an unknown author of the commit",
    file: eligibility,
    text: `if (commitAuthors === "unknown") return "commit_author_unknown"`,
    broken: `if (commitAuthors === "unknown") return undefined`,
    test: eligible
  },
  {
    name: "every rule has to be met",
    file: decision,
    text: "tallies.every(({ missing }) => missing === 0)",
    broken: "tallies.some(({ missing }) => missing === 0)",
    test: decided
  },
  {
    name: "nobody counts twice",
    file: decision,
    text: "[...new Map(facts.approvals.map((approval) => [approval.approver, approval])).values()]",
    broken: "facts.approvals",
    test: decided
  },
  {
    name: "the admission of an apply asks for the approvals",
    file: "actors/commands/capsule/CapsuleRuns.ts",
    text: "yield* approvals.require(plan)",
    broken: "yield* approvals.of(plan)",
    test: approvals
  },
  {
    name: "the claim of an apply asks for the approvals",
    file: "actors/running/execution/ApplySteps.ts",
    text: "if (unapproved !== undefined) {",
    broken: `if (unapproved === "") {`,
    test: "test/actors/running/execution/ApplyRefusals.test.ts"
  },
  {
    name: "a followed plan needs the approvals",
    file: "actors/commands/capsule/FollowedApply.ts",
    text: "if (Result.isFailure(given) || !given.success.isApproved) {",
    broken: "if (Result.isFailure(given) && plan.approved_at !== null) {",
    test: ways
  },
  {
    name: "an approval too few does not approve",
    file: "actors/commands/run/RunActor.ts",
    text: `const completes = isApproved && row.status === "waiting_approval"`,
    broken: `const completes = row.status === "waiting_approval"`,
    test: ways
  },
  {
    name: "only owners change rules and teams",
    file: "actors/access/team/Teams.ts",
    text: `!== "owner") return yield* permissionDenied(refusal)`,
    broken: `=== undefined) return yield* permissionDenied(refusal)`,
    test: approvals
  },
  {
    name: "a team's role is that of its environment",
    file: "src/http/authorization/WorkspaceLocation.ts",
    text: "AND (g.environment IS NULL OR g.environment = c.environment))",
    broken: ")",
    test: "test/src/http/authorization/TeamRoles.test.ts"
  }
]
