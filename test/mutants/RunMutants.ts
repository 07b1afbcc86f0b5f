import type { Mutant } from "./Mutant.ts"

const createApply = "test/actors/commands/capsule/CreateApply.test.ts"
const applyRefusals = "test/actors/running/execution/ApplyRefusals.test.ts"
const preparation = "test/actors/running/execution/RunPreparation.test.ts"
const twoOwners = "test/actors/ledger/run/TwoOwners.test.ts"
const preparations = "test/actors/ledger/run/RunPreparations.test.ts"
const settlements = "test/actors/running/execution/Settlements.test.ts"
const reportedEvents = "test/actors/ledger/run/ReportedEvents.test.ts"
const runFilters = "test/actors/ledger/run/RunFilter.test.ts"
const runFilterFile = "actors/ledger/run/RunFilter.ts"
const stateKeeper = "test/actors/ledger/state/StateKeeper.test.ts"
const stateKeeping = "test/actors/ledger/state/StateKeeping.test.ts"
const moves = "test/schema/records/RunTransitions.test.ts"
const digests = "test/runner/execution/ReviewedDigests.test.ts"
const applyFile = "actors/running/execution/ReviewedPlanProblem.ts"
const lifecycleFile = "actors/ledger/run/RunLifecycle.ts"
const holdFile = "actors/ledger/run/RunHold.ts"
const sequencesFile = "actors/ledger/run/RunSequences.ts"
const runLedgerFile = "actors/ledger/run/RunLedger.ts"
const preparationFile = "actors/running/execution/RunPreparation.ts"
const obstacleFile = "actors/running/execution/CapsuleObstacle.ts"
const stablePaths = "test/runner/execution/StablePaths.test.ts"
const stablePathsFile = "runner/execution/StablePaths.ts"
const providersFile = "actors/running/execution/ProviderObstacle.ts"

/**
 * Mutants of a Run: its hold, its sequences, the plan it applies, and the checks that are repeated before its tool starts.
 */
export const runMutants: ReadonlyArray<Mutant> = [
  {
    name: "list of Runs: the Workspace",
    file: runFilterFile,
    text: "sql`workspace_id = ${workspaceId}`",
    broken: 'sql`workspace_id <> ${""}`',
    test: runFilters
  },
  {
    name: "list of Runs: a cursor is bound to the search",
    file: runFilterFile,
    text: "  filter.search,\n",
    broken: "",
    test: runFilters
  },
  {
    name: "changes: syncs of another Workspace are not folded away",
    file: "actors/ledger/run/RunChanges.ts",
    text: "AND p.workspace_id = runs.workspace_id AND ${followsCommit}",
    broken: "AND ${followsCommit}",
    test: "test/actors/ledger/run/RunChanges.test.ts"
  },
  {
    name: "settlement: a request to stop rolls back the result",
    file: lifecycleFile,
    text: "return yield* new StopRequested({ hold, evidence })",
    broken: "yield* Effect.void",
    test: settlements
  },
  {
    name: "settlement: a request to stop decides the status of a finished apply",
    file: lifecycleFile,
    text: "return yield* cancel(hold, evidence, allWasDone, data)",
    broken: "yield* Effect.void",
    test: settlements
  },
  {
    name: "settlement: a failed Run that was asked to stop is cancelled",
    file: lifecycleFile,
    text: "if (request !== undefined) return yield* cancel(",
    broken: 'if (request?.isApply === true && error.code === "") return yield* cancel(',
    test: settlements
  },
  {
    name: "record: the hold",
    file: runLedgerFile,
    text: "SET ${RunRow.changes(sql, columns)} WHERE ${isHeld(sql, hold)}",
    broken: "SET ${RunRow.changes(sql, columns)} WHERE id = ${hold.runId}",
    test: twoOwners
  },
  {
    name: "log: a line's time is read before the batch is touched",
    file: "actors/ledger/run/RunLogs.ts",
    text: "text: string) {\n          const at = yield* now\n",
    broken:
      "text: string) {\n          const batch = pending\n          const at = yield* now\n          pending = batch\n",
    test: "test/actors/ledger/run/RunLogs.test.ts"
  },
  {
    name: "log: lost lines are counted in their place",
    file: "actors/ledger/run/RunLogs.ts",
    text: "          noteDropped(at)\n          add({ at, phase",
    broken: "          add({ at, phase",
    test: "test/actors/ledger/run/RepeatedBatches.test.ts"
  },
  {
    name: "events: the hold",
    file: sequencesFile,
    text: "WHERE ${isHeld(sql, hold)} AND last_event_batch",
    broken: "WHERE id = ${hold.runId} AND last_event_batch",
    test: twoOwners
  },
  {
    name: "checkpoint: the hold",
    file: "actors/ledger/state/RunCheckpoints.ts",
    text: "FROM runs WHERE ${isHeld(sql, hold)}",
    broken: "FROM runs WHERE id = ${hold.runId}",
    test: twoOwners
  },
  {
    name: "prepared row: the hold",
    file: "actors/ledger/run/RunPreparations.ts",
    text: "FROM runs WHERE ${isHeld(sql, hold)} RETURNING run_id",
    broken: "FROM runs WHERE id = ${hold.runId} RETURNING run_id",
    test: preparations
  },
  {
    name: "prepared row: its end",
    file: lifecycleFile,
    text: "if (hold !== undefined) yield* sql`DELETE FROM run_preparations",
    broken: "if (hold === undefined) yield* sql`DELETE FROM run_preparations",
    test: preparations
  },
  {
    name: "settlement: an apply once",
    file: "actors/running/execution/ApplySettlement.ts",
    text: "if (run.provider_apply_succeeded !== null) return checked",
    broken: "",
    test: settlements
  },
  {
    name: "settlement: the authority of a plan",
    file: "actors/running/execution/PlanSettlement.ts",
    text: "capsule === undefined || authorityMoved(run, capsule)",
    broken: "capsule === undefined",
    test: settlements
  },
  {
    name: "events: what a runner has no say in",
    file: "actors/ledger/run/RunJournal.ts",
    text: "decodeUnknownEffect(ReportedFact, closed)",
    broken: "decodeUnknownEffect(Schema.Struct({ kind: Schema.String, data: Schema.Any }))",
    test: reportedEvents
  },
  {
    name: "checkpoint: said only when it is written",
    file: "actors/ledger/state/StateKeeper.ts",
    text: "      transaction(sql)(\n",
    broken: "      ((effect) => effect)(\n",
    test: stateKeeper
  },
  {
    name: "checkpoint: no serial goes back",
    file: "actors/ledger/state/StateKeeping.ts",
    text: "serial >= last",
    broken: "serial >= 0",
    test: stateKeeping
  },
  {
    name: "moves: no way back",
    file: "schema/records/RunTransitions.ts",
    text: "  failed: {},",
    broken: `  failed: { queued: "run.queued" },`,
    test: moves
  },
  {
    name: "moves: an approval that an apply has used",
    file: "schema/records/RunTransitions.ts",
    text: "isPlan(type) && isApproved && !isUsed",
    broken: "isPlan(type) && isApproved",
    test: moves
  },
  {
    name: "moves: an approval that nobody gave",
    file: "schema/records/RunTransitions.ts",
    text: "isPlan(type) && isApproved && !isUsed",
    broken: "isPlan(type) && !isUsed",
    test: moves
  },
  {
    name: "digest: the reviewed plan",
    file: "runner/execution/ApplyExecution.ts",
    text: "if (digest !== job.planDigest)",
    broken: `if (digest === "")`,
    test: digests
  },
  {
    name: "digest: the reviewed build",
    file: "runner/execution/BuildArchive.ts",
    text: "if (digest !== archive.digest)",
    broken: `if (digest === "")`,
    test: digests
  },
  {
    name: "used_by: the lease",
    file: lifecycleFile,
    text: "AND used_by_run_id IS NULL AND",
    broken: "AND",
    test: createApply
  },
  {
    name: "hold: the fence",
    file: holdFile,
    text: "AND owner = ${owner} AND fence = ${fence}`",
    broken: "AND owner = ${owner}`",
    test: twoOwners
  },
  {
    name: "claim: a fence that only grows",
    file: lifecycleFile,
    text: "fence = fence + 1",
    broken: "fence = attempt + 1",
    test: twoOwners
  },
  {
    name: "claim: only what is queued",
    file: lifecycleFile,
    text: "AND status = 'queued' RETURNING *",
    broken: "RETURNING *",
    test: twoOwners
  },
  {
    name: "log: the fence",
    file: sequencesFile,
    text: "sql`id = ${hold.runId} AND fence = ${hold.fence}`",
    broken: "sql`id = ${hold.runId}`",
    test: twoOwners
  },
  {
    name: "log: its end",
    file: sequencesFile,
    text: "AND log_ended_at IS NULL AND last_log_batch = ${batch.number - 1}",
    broken: "AND last_log_batch = ${batch.number - 1}",
    test: twoOwners
  },
  {
    name: "log: a batch once",
    file: sequencesFile,
    text: "AND last_log_batch = ${batch.number - 1} RETURNING",
    broken: "RETURNING",
    test: twoOwners
  },
  {
    name: "events: a batch once",
    file: sequencesFile,
    text: "AND last_event_batch = ${batch.number - 1} RETURNING",
    broken: "RETURNING",
    test: twoOwners
  },
  {
    name: "used_by: this apply and no other",
    file: applyFile,
    text: "plan.used_by_run_id !== applyId ||",
    broken: "",
    test: applyRefusals
  },
  {
    name: "apply: approval",
    file: applyFile,
    text: "plan.approved_at === null ||",
    broken: "",
    test: applyRefusals
  },
  {
    name: "apply: superseded plan",
    file: applyFile,
    text: `plan.status !== "succeeded"`,
    broken: "false",
    test: applyRefusals
  },
  {
    name: "plans of another tool: superseded before an approval",
    file: "actors/running/execution/OutdatedPlans.ts",
    text: "if (reason !== undefined) reasons.set(plan.id, reason)",
    broken: "void reason",
    test: "test/actors/running/execution/OutdatedPlans.test.ts"
  },
  {
    name: "tool_changed: flavour",
    file: applyFile,
    text: "madeWith?.name === tool.name && madeWith.version === tool.version",
    broken: "madeWith?.version === tool.version",
    test: applyRefusals
  },
  {
    name: "tool_changed: version",
    file: applyFile,
    text: "madeWith?.name === tool.name && madeWith.version === tool.version",
    broken: "madeWith?.name === tool.name",
    test: applyRefusals
  },
  {
    name: "preparation: authority of an apply",
    file: obstacleFile,
    text: "if (authorityMoved(run, capsule))",
    broken: "if (run.id === capsule.id)",
    test: preparation
  },
  {
    name: "preparation: Outputs that are given no longer",
    file: obstacleFile,
    text: `return lost === undefined ? undefined : blocked("superseded", lost)`,
    broken: "return undefined",
    test: preparation
  },
  {
    name: "preparation: archived Workspace",
    file: obstacleFile,
    text: "refuseArchived(capsule.workspace_id).pipe(",
    broken: `refuseArchived("").pipe(`,
    test: preparation
  },
  {
    name: "preparation: disabled Capsule",
    file: obstacleFile,
    text: "!isInService(capsule.status)",
    broken: `capsule.status === "destroyed"`,
    test: preparation
  },
  {
    name: "preparation: providers",
    file: preparationFile,
    text: "if (providers.blocked !== undefined)",
    broken: "if (providers.blocked === null)",
    test: preparation
  },
  {
    name: "providers: Connection that is not usable",
    file: providersFile,
    text: "if (!isUsable(status))",
    broken: "if (status === undefined)",
    test: preparation
  },
  {
    name: "providers: revoked Connection",
    file: "actors/inputs/connection/ConnectionStore.ts",
    text: `status === "pending" || status === "verified"`,
    broken: `status === "pending" || status === "verified" || status === "revoked"`,
    test: preparation
  },
  {
    name: "providers: Connection that nobody confirmed after a restore",
    file: "actors/inputs/connection/ConnectionStore.ts",
    text: `status === "pending" || status === "verified"`,
    broken: `status === "pending" || status === "verified" || status === "unconfirmed"`,
    test: preparation
  },
  {
    name: "providers: expired Connection",
    file: "actors/inputs/connection/ConnectionStore.ts",
    text: `row.expires_at <= at ? "expired"`,
    broken: `row.expires_at <= at ? row.status`,
    test: preparation
  },
  {
    name: "providers: Connection of another Workspace",
    file: providersFile,
    text: `bound.scope !== "operator" && bound.workspace_id !== workspaceId`,
    broken: "bound.workspace_id === null",
    test: preparation
  },
  {
    name: "providers: Connection for another provider",
    file: providersFile,
    text: "normaliseProviderAddress(bound.provider) === provider",
    broken: "bound.provider !== workspaceId",
    test: preparation
  },
  {
    name: "a Capsule's path: that of another service with the same keys",
    file: stablePathsFile,
    text: "else if (isElsewhere(path, runs)) return false",
    broken: "else if (isElsewhere(path, runs) && false) return false",
    test: stablePaths
  },
  {
    name: "a Capsule's path: a path that something else uses is refused",
    file: stablePathsFile,
    text: "if (!(yield* isOurs(path))) {",
    broken: "if (!(yield* isOurs(path)) && false) {",
    test: stablePaths
  },
  {
    name: "a Capsule's path: Runs of one Capsule take turns",
    file: stablePathsFile,
    text: "        yield* takeTurn(name)\n",
    broken: "",
    test: stablePaths
  },
  {
    name: "a Capsule's path: a link is not removed once it leads to another Run",
    file: stablePathsFile,
    text: "&& readlinkSync(path) === target) rmSync",
    broken: ") rmSync",
    test: stablePaths
  },
  {
    name: "apply: ephemeral inputs from Outputs keep their types",
    file: "runner/execution/ApplyExecution.ts",
    text: "{ value, type: job.ephemeralTypes?.[name] }",
    broken: "{ value }",
    test: "test/actors/commands/capsule/ExactValues.test.ts"
  }
]
