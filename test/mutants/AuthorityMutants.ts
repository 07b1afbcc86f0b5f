import type { Mutant } from "./Mutant.ts"

const fence = "test/actors/ledger/capsule/CapsuleFence.test.ts"
const guard = "test/actors/ledger/capsule/AuthorityGuard.test.ts"
const createApply = "test/actors/commands/capsule/CreateApply.test.ts"
const evidence = "test/actors/commands/capsule/ReAdoptionProblem.test.ts"
const columnsFile = "actors/ledger/capsule/AuthorityColumns.ts"
const obstacleFile = "actors/ledger/capsule/ApplyObstacle.ts"
const evidenceFile = "actors/commands/capsule/ReAdoptionProblem.ts"

const fenceColumn = (column: string): Mutant => ({
  name: `fence: ${column}`,
  file: columnsFile,
  text: `{ column: "${column}", fenced: true`,
  broken: `{ column: "${column}", fenced: false`,
  test: fence
})

const adoptionFile = "actors/commands/capsule/AdoptionProblems.ts"
const adoptionProblems = "test/actors/commands/capsule/AdoptionProblems.test.ts"
const adoption = "test/actors/commands/capsule/OrphanedStateAdoption.test.ts"

const movedColumn = (column: string): Mutant => ({
  name: `adoption of a left-over state: ${column}`,
  file: adoptionFile,
  text: `capsule.${column} === leftOver`,
  broken: `capsule.${column} !== undefined || leftOver`,
  test: adoptionProblems
})

const guardColumns = [
  "id",
  "status",
  "runtime_safety",
  "execution_authority_epoch",
  "install_config_id",
  "install_config_digest",
  "current_state_version_id",
  "current_state_generation"
]

const guardColumn = (column: string): Mutant => ({
  name: `guard: ${column}`,
  file: columnsFile,
  text: "JSON.stringify(authorityColumns.map(({ column }) => row[column]))",
  broken: `JSON.stringify(authorityColumns.map(({ column }) => (column === "${column}" ? 0 : row[column])))`,
  test: guard
})

const restore = "test/actors/running/execution/Restore.test.ts"
const restoreCommit = "actors/running/execution/RestoreExecution.ts"

const restoreMutants: ReadonlyArray<Mutant> = [
  {
    name: "configuration: nobody changes what the manifest does not declare",
    file: "actors/ledger/configuration/VariableRules.ts",
    text: "isFillable(variable) && !mentioned.has(variable.name)",
    broken: "isFillable(variable) && mentioned.has(variable.name)",
    test: "test/actors/commands/capsule/InputAuthority.test.ts"
  },
  {
    name: "configuration: nobody removes what is not theirs",
    file: "actors/ledger/configuration/VariableRules.ts",
    text: "if (refusal !== undefined) return Result.fail(`variablePatch.remove",
    broken: "if (refusal === null) return Result.fail(`variablePatch.remove",
    test: "test/actors/ledger/configuration/VariablePatch.test.ts"
  },
  {
    name: "re-adoption: the stored configuration matches its digest",
    file: "actors/ledger/configuration/InstallConfigStore.ts",
    text: "if (digests.includes(row.digest)) return",
    broken: "if (digests.length > 0) return",
    test: "test/src/http/ReAdoptionDrift.test.ts"
  },
  {
    name: "authority: a plan without an epoch belongs to the first one",
    file: "actors/ledger/capsule/AuthorityColumns.ts",
    text: "(run[ofRun] ?? missing) !== capsule[column]",
    broken: "run[ofRun] !== null && (run[ofRun] ?? missing) !== capsule[column]",
    test: "test/actors/ledger/capsule/ApplyObstacle.test.ts"
  },
  {
    name: "restore: what was reviewed is what is done",
    file: "actors/running/execution/RestoreExecution.ts",
    text: "target.success.digest !== plan.plan_digest",
    broken: "target.success.digest === undefined",
    test: restore
  },
  {
    name: "restore: the epoch moves",
    file: restoreCommit,
    text: "execution_authority_epoch: evidence.next.executionAuthorityEpoch,",
    broken: "",
    test: restore
  },
  {
    name: "restore: the serial is above every other",
    file: "actors/running/execution/RestoreTarget.ts",
    text: "const serial = (yield* highestSerial(capsuleId, version)) + 1",
    broken: "const serial = version.serial + 1",
    test: restore
  },
  {
    name: "restore: auto-update is held",
    file: restoreCommit,
    text: "...pinOfRestore(run, plan, {",
    broken: "...((..._: ReadonlyArray<unknown>) => ({}))(run, plan, {",
    test: restore
  },
  {
    name: "restore: refused while another Run is under way",
    file: "actors/commands/capsule/CapsuleRuns.ts",
    text: 'const snapshot = yield* store.findSnapshot(snapshotId ?? null)\n        if (type === "restore") yield* succession.idle(capsule)',
    broken: "const snapshot = yield* store.findSnapshot(snapshotId ?? null)",
    test: restore
  },
  {
    name: "download of a backup: confirmed lately",
    file: "src/http/authorization/Admission.ts",
    text: "if (readMethods.has(request.method)) return Effect.andThen(present, admission)",
    broken: "if (readMethods.has(request.method)) return admission",
    test: "test/src/http/AuthorizationMatrix.test.ts"
  }
]

/** Mutants of a Capsule's authority: fence, guard, conditions for an apply, and re-adoption. */
export const authorityMutants: ReadonlyArray<Mutant> = [
  {
    name: "later wave: held in the transaction of its plan",
    file: "actors/running/run-group/UpdateHold.ts",
    text: "return automatic ? (yield* holdOf(group))?.reason : undefined",
    broken: "return undefined",
    test: "test/actors/commands/capsule/AutomaticRuns.test.ts"
  },
  {
    name: "later wave: not after the end of its update",
    file: "actors/running/run-group/UpdateHold.ts",
    text: "group.finished_at !== null || group.cancelled_at !== null",
    broken: "group.finished_at !== null",
    test: "test/actors/commands/capsule/AutomaticRuns.test.ts"
  },
  {
    name: "scheduled check: still scheduled",
    file: "actors/commands/capsule/PlanCommands.ts",
    text: "scheduled.length > 0 ? undefined",
    broken: "scheduled.length >= 0 ? undefined",
    test: "test/actors/commands/capsule/AutomaticRuns.test.ts"
  },
  {
    name: "look: the Source still follows",
    file: "actors/commands/source/SourceActor.ts",
    text: "const stopped = followObstacle(row, trigger)",
    broken: 'const stopped = followObstacle(row, "user")',
    test: "test/actors/commands/capsule/AutomaticRuns.test.ts"
  },
  {
    name: "revision plan: the Capsule of its transaction",
    file: "actors/commands/revision-plan/RevisionPlanActor.ts",
    text: "if (!isInService(capsule.status)) {",
    broken: "if (capsule.id === null) {",
    test: "test/src/http/CommandRaces.test.ts"
  },
  {
    name: "test of a Connection: the values of its transaction",
    file: "actors/inputs/connection/ConnectionStore.ts",
    text: "return stored.length === 1",
    broken: "return stored.length < 2",
    test: "test/src/http/CommandRaces.test.ts"
  },
  {
    name: "removal: only a Capsule without a state ends at once",
    file: "actors/commands/capsule/LifecycleCommands.ts",
    text: "capsule.current_state_version_id === null && capsule.runtime_safety",
    broken: "capsule.runtime_safety",
    test: "test/actors/commands/capsule/Removal.test.ts"
  },
  ...restoreMutants,
  ...(["id", "status", "execution_authority_epoch", "install_config_id"] as const).map(fenceColumn),
  ...(["current_state_version_id", "current_state_generation"] as const).map(fenceColumn),
  ...guardColumns.map(guardColumn),
  {
    name: "createApply: epoch",
    file: columnsFile,
    text: `, ofRun: "execution_authority_epoch" }`,
    broken: " }",
    test: createApply
  },
  {
    name: "createApply: generation",
    file: columnsFile,
    text: `, ofRun: "base_state_generation" }`,
    broken: " }",
    test: createApply
  },
  {
    name: "createApply: configuration",
    file: columnsFile,
    text: `, ofRun: "install_config_id" }`,
    broken: " }",
    test: createApply
  },
  {
    name: "createApply: authority",
    file: obstacleFile,
    text: "if (authorityMoved(plan, capsule))",
    broken: "if (plan.type === plan.status)",
    test: createApply
  },
  {
    name: "createApply: expiry by the clock",
    file: obstacleFile,
    text: "plan.expires_at <= at",
    broken: "plan.expires_at === at",
    test: createApply
  },
  {
    name: "createApply: approval",
    file: obstacleFile,
    text: `plan.status !== "succeeded" || plan.approved_at === null`,
    broken: `plan.status !== "succeeded"`,
    test: createApply
  },
  {
    name: "re-adoption: Capsule in error",
    file: evidenceFile,
    text: `capsule.status !== "error"`,
    broken: `capsule.status === "pending"`,
    test: evidence
  },
  {
    name: "re-adoption: type of the last Run",
    file: evidenceFile,
    text: `run.type !== "apply"`,
    broken: `run.type === "plan"`,
    test: evidence
  },
  {
    name: "re-adoption: status of the last apply",
    file: evidenceFile,
    text: `run.status !== "failed"`,
    broken: `run.status === "queued"`,
    test: evidence
  },
  {
    name: "re-adoption: success of the tool",
    file: evidenceFile,
    text: "run.provider_apply_succeeded !== 1",
    broken: "run.provider_apply_succeeded === 2",
    test: evidence
  },
  {
    name: "re-adoption: only checks failed",
    file: evidenceFile,
    text: "if (!isOnlyChecks)",
    broken: "if (run.id === run.plan_digest)",
    test: evidence
  },
  {
    name: "re-adoption: nothing more was created",
    file: evidenceFile,
    text: "possiblyCreated.length > 0",
    broken: "possiblyCreated.length > 9",
    test: evidence
  },
  {
    name: "re-adoption: not restored since",
    file: evidenceFile,
    text: "if (restoredSince)",
    broken: "if (run.id === run.plan_digest)",
    test: evidence
  },
  {
    name: "re-adoption: StateVersion of the Run",
    file: evidenceFile,
    text: "version.id === run.state_version_id &&",
    broken: "",
    test: evidence
  },
  {
    name: "re-adoption: Run of the StateVersion",
    file: evidenceFile,
    text: "version.created_by_run_id === run.id &&",
    broken: "",
    test: evidence
  },
  {
    name: "re-adoption: generation",
    file: evidenceFile,
    text: "version.generation === capsule.current_state_generation &&",
    broken: "",
    test: evidence
  },
  {
    name: "re-adoption: configuration of the StateVersion",
    file: evidenceFile,
    text: " &&\n    version.install_config_id === run.install_config_id",
    broken: "",
    test: evidence
  },
  {
    name: "re-adoption: whole StateVersion",
    file: evidenceFile,
    text: "version.partial === 1",
    broken: "version.partial === 2",
    test: evidence
  },
  {
    name: "re-adoption: plan used by the apply",
    file: evidenceFile,
    text: "plan?.used_by_run_id !== run.id ||",
    broken: "",
    test: evidence
  },
  {
    name: "re-adoption: digest of the plan",
    file: evidenceFile,
    text: "plan?.used_by_run_id !== run.id || plan.plan_digest !== run.plan_digest",
    broken: "plan?.used_by_run_id !== run.id",
    test: evidence
  },
  {
    name: "re-adoption: epoch",
    file: evidenceFile,
    text: "epoch === null ? firstEpoch : epoch + (successions ?? 0)",
    broken: "capsule.execution_authority_epoch",
    test: evidence
  },
  {
    name: "adoption of a left-over state: lineage",
    file: adoptionFile,
    text: "current.lineage !== leftOver.lineage",
    broken: "false",
    test: adoptionProblems
  },
  {
    name: "adoption of a left-over state: serial",
    file: adoptionFile,
    text: "leftOver.serial < current.serial",
    broken: "leftOver.serial < current.serial - 1",
    test: adoptionProblems
  },
  ...["current_state_version_id", "current_state_generation", "execution_authority_epoch"].map(movedColumn),
  {
    name: "adoption of a left-over state: a Run under way",
    file: adoptionFile,
    text: "openRun !== undefined",
    broken: "openRun === null",
    test: adoptionProblems
  },
  {
    name: "adoption of a left-over state: a restored installation",
    file: adoptionFile,
    text: "if (isRestored)",
    broken: "if (false)",
    test: adoptionProblems
  },
  {
    name: "adoption of a left-over state: what is public",
    file: "actors/commands/capsule/AdoptedOutputs.ts",
    text: "published.get(output.name) === JSON.stringify(Redacted.value(output.value))",
    broken: "published.has(output.name)",
    test: adoptionProblems
  },
  {
    name: "adoption of a left-over state: the guard",
    file: "actors/commands/capsule/OrphanedStateAdoption.ts",
    text: "if (!(yield* guardHolds(capsule, request.expected.authorityGuard))) return yield* guardMoved()",
    broken: "",
    test: adoption
  },
  {
    name: "adoption of a left-over state: the typed name",
    file: "actors/commands/capsule/OrphanedStateAdoption.ts",
    text: "request.confirm !== capsule.name",
    broken: "false",
    test: adoption
  },
  {
    name: "adoption of a left-over state: of this Capsule",
    file: "actors/commands/capsule/OrphanedStateAdoption.ts",
    text: "row.capsule_id !== capsule.id",
    broken: "false",
    test: adoption
  },
  {
    name: "adoption of a left-over state: void plans",
    file: "actors/commands/capsule/OrphanedStateAdoption.ts",
    text: 'yield* runs.supersedePlans(capsule.id, "A left-over state was adopted.")',
    broken: "",
    test: adoption
  }
]
