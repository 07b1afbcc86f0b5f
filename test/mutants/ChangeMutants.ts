import type { Mutant } from "./Mutant.ts"

const digestFile = "runner/execution/ChangeDigest.ts"
const digestTest = "test/runner/execution/ChangeDigest.test.ts"

const decisionFile = "actors/running/carry-over/CarryOverDecision.ts"
const decisionTest = "test/actors/running/carry-over/CarryOverDecision.test.ts"
const carryFile = "actors/running/carry-over/CarryOver.ts"
const carryTest = "test/actors/running/carry-over/CarryOver.test.ts"
const approvalsFile = "actors/access/approval/ChangeApprovals.ts"

const decided = (name: string, text: string, broken: string): Mutant => ({
  name: `carry-over: ${name}`,
  file: decisionFile,
  text,
  broken,
  test: decisionTest
})

/** Mutants of a change's digest, of the approval of a change, and of every condition that prevents its carry-over. */
export const changeMutants: ReadonlyArray<Mutant> = [
  decided("the same change", "approved.changeDigest === planned.changeDigest", "approved.changeDigest !== undefined"),
  decided(
    "a digest on both sides",
    "approved.changeDigest === null || planned.changeDigest === null",
    "approved.changeDigest === undefined"
  ),
  decided("the same files", 'files.kind === "untouched"', "files.kind !== undefined"),
  decided(
    "the same configuration",
    "approved.installConfigId === planned.installConfigId",
    "approved.installConfigId !== undefined"
  ),
  decided(
    "the same base configuration",
    "approved.operatorDigest === planned.operatorDigest",
    'approved.operatorDigest !== "none"'
  ),
  decided("the same injected Outputs", "facts.movedInputs === undefined", 'facts.movedInputs !== ""'),
  decided("the same bindings", "approved.bindings === planned.bindings", 'approved.bindings !== ""'),
  decided("no rotated Connection", "facts.movedConnections === undefined", 'facts.movedConnections !== ""'),
  decided("the same epoch", "approved.epoch === planned.epoch", "approved.epoch !== undefined"),
  decided(
    "the same state",
    "approved.stateGeneration === planned.stateGeneration",
    "approved.stateGeneration !== undefined"
  ),
  decided(
    "the same provider lock",
    "approved.providerLockDigest === planned.providerLockDigest",
    'approved.providerLockDigest !== "none"'
  ),
  decided("the same tool", "a.version === b.version", "a.version !== undefined"),
  decided("the same profile", "approved.profile === planned.profile &&", ""),
  decided("the same content of the profile", "approved.profileDigest === planned.profileDigest &&", ""),
  decided("the same pool", "approved.pool === planned.pool &&", ""),
  decided("the same network", "approved.network === planned.network", "approved.network !== undefined"),
  decided("the same credentials of an agent", "markText(a) === markText(b)", "a.length >= 0"),
  decided("credentials of an agent with marks", "mark !== undefined) &&", 'mark !== "") &&'),
  decided("the same deliveries", "approved.deliveries === planned.deliveries", "planned.deliveries !== undefined"),
  decided("the same rules", "rules === rulesNow", "rules.length >= 0"),
  decided("every rule allows it", '!allowed.includes("off")', 'allowed.includes("approval")'),
  decided("enough approvers", "missing === undefined", 'missing !== ""'),
  decided("no stale branch", "    isStale\n", "    isStale && isUsed\n"),
  decided("no uncertain ground", "    isUncertain ?", "    isUncertain && isUsed ?"),
  decided("approvals that were not used", "    isUsed ?", "    isUsed && isStale ?"),
  decided(
    "every rule lets svc apply",
    'allowed.every((each) => each === "approval_and_apply")',
    'allowed.includes("approval_and_apply")'
  ),
  {
    name: "carry-over: a discarded plan uses the approvals",
    file: carryFile,
    text: 'if (target.status !== "superseded" && target.status !== "expired") return true',
    broken: 'if (target.status === "queued") return true',
    test: carryTest
  },
  {
    name: "carry-over: only an ordinary plan of the lane receives approvals",
    file: carryFile,
    text: 'run.type === "plan" && run.purpose === null && run.coordinator_kind === null',
    broken: 'run.type === "plan" && run.purpose === null',
    test: carryTest
  },
  {
    name: "carry-over: the reviews show the same lines",
    file: carryFile,
    text: ': review.lines.length > 0 && found.every(({ code }) => code !== "change")',
    broken: ": review.lines.length < 0",
    test: carryTest
  },
  {
    name: "carry-over: an approval during the settlement of the plan",
    file: carryFile,
    text: "      review === undefined\n        ? [{",
    broken: "      review === undefined && found.length === 0\n        ? [{",
    test: carryTest
  },
  {
    name: "carry-over: the plan was compared with the files of the change",
    file: carryFile,
    text: 'files: compared.get(change.id)?.files ?? { kind: "touched", because: "The commits were not compared" }',
    broken: 'files: compared.get(change.id)?.files ?? { kind: "untouched" }',
    test: carryTest
  },
  {
    name: "carry-over: a merge that svc sees after the lane's plan",
    file: "actors/commands/pull-request/PullRequestSteps.ts",
    text: "if (isReviewed(source)) yield* merged.connect(row, source)",
    broken: "void merged.connect",
    test: "test/actors/commands/pull-request/MergedPlans.test.ts"
  },
  {
    name: "carry-over: the lane's plan contains the merge",
    file: "actors/commands/pull-request/MergedPlans.ts",
    text: "history.some((one) => merges.has(one))",
    broken: "history.length > 0",
    test: "test/actors/commands/pull-request/MergedPlans.test.ts"
  },
  {
    name: "change approvals: the change that was read",
    file: approvalsFile,
    text: "if (planDigest === run.plan_digest && changeDigest === run.change_digest) return undefined",
    broken: "if (planDigest === run.plan_digest || changeDigest === run.change_digest) return undefined",
    test: carryTest
  },
  {
    name: "change approvals: only people whose approval counts",
    file: approvalsFile,
    text: "requireEligible(openRules(decision), yield*",
    broken: "requireEligible([], yield*",
    test: carryTest
  },
  {
    name: "change approvals: authors of the branch",
    file: "actors/access/approval/PlanApproval.ts",
    text: "between === undefined ? [] : [...new Set([...addresses, ...between])]",
    broken: "between === undefined ? [] : addresses",
    test: carryTest
  },
  {
    name: "change approvals: a withdrawn approval does not count",
    file: approvalsFile,
    text: "AND withdrawn_at IS NULL ORDER BY created_at, id",
    broken: "ORDER BY created_at, id",
    test: carryTest
  },
  {
    name: "change digest: keyed",
    file: digestFile,
    text: 'createHmac("sha256", changeKey)',
    broken: 'createHmac("sha256", "")',
    test: digestTest
  },
  {
    name: "change digest: numbers digit by digit",
    file: digestFile,
    text: 'withNumbers(plan, (number) => `"${mark}${number}"`)',
    broken: "plan",
    test: digestTest
  },
  {
    name: "change digest: a number is not the string of its digits",
    file: digestFile,
    text: "value.startsWith(mark) ? value.slice(mark.length) : JSON.stringify(value)",
    broken: "JSON.stringify(value.replace(mark, String()))",
    test: digestTest
  },
  {
    name: "change digest: objects that are only moved",
    file: digestFile,
    text: '|| member(planned, "previous_address") != null',
    broken: "",
    test: digestTest
  },
  {
    name: "change digest: parts that svc does not know",
    file: digestFile,
    text: "otherParts.has(name) ? undefined",
    broken: '!["resource_changes", "output_changes", "checks"].includes(name) ? undefined',
    test: digestTest
  },
  {
    name: "change digest: drift that a plan accepts",
    file: digestFile,
    text: '.update(mode === "refresh_only" ? `${mode}:${change}:${drift}` : `${mode}:${change}`)',
    broken: ".update(`${mode}:${change}:${drift.slice(drift.length)}`)",
    test: digestTest
  }
]
