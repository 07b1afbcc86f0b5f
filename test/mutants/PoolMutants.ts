import type { Mutant } from "./Mutant.ts"

const providedTest = "test/runner/execution/ProvidedCredentials.test.ts"
const planTest = "test/runner/execution/ProvidedInPlan.test.ts"
const poolCredentialsTest = "test/src/http/agent/PoolCredentials.test.ts"

/**
 * Mutants of the rules that restrict a pool's credentials to its agents, and an apply to the credentials with which its plan
 * was created.
 */
export const poolMutants: ReadonlyArray<Mutant> = [
  {
    name: "pool: its credentials are no provider arguments",
    file: "runner/execution/CredentialDelivery.ts",
    text: "byArgument.has(tuple.provider) && tuple.provided !== undefined && items.length > 0",
    broken: "byArgument.has(tuple.provider) && tuple.provided === null",
    test: providedTest
  },
  {
    name: "pool: its credentials are not among what a plan brings back",
    file: "runner/execution/RunSession.ts",
    text: ".filter(({ value }) => !own.has(value))",
    broken: "",
    test: providedTest
  },
  {
    name: "pool: a plan is applied with the credentials that it was made with",
    file: "runner/execution/ProvidedBinding.ts",
    text: "present.get(name) !== planned.get(name)",
    broken: "planned.get(name) === null",
    test: providedTest
  },
  {
    name: "pool: a label stands for values, and for no names",
    file: "runner/execution/ProvidedBinding.ts",
    text: "label === undefined ? Redacted.value(value) : null",
    broken: "label === null ? Redacted.value(value) : null",
    test: providedTest
  },
  {
    name: "pool: a plan is void once its credentials were replaced",
    file: "actors/running/agent-pool/ReplacedCredentials.ts",
    text: "!agents.some((agent) => counts(agent, each, agents) && mayHave(agent, each))",
    broken: "agents.length === 0",
    test: "test/actors/running/agent-pool/ReplacedCredentials.test.ts"
  },
  {
    name: "pool: credentials are not called replaced for what was told before the plan",
    file: "actors/running/agent/AgentSettlement.ts",
    text: "yield* marks.used(row.agent_id, row.accepted_at ?? row.offered_at, outcome.secrets.provided ?? [])",
    broken: "void marks",
    test: poolCredentialsTest
  },
  {
    name: "pool: the database alone does not help to try values",
    file: "actors/running/agent-pool/ProvidedMarks.ts",
    text: `vault.mac("agent/provided-mark", mark)`,
    broken: "Effect.succeed(mark)",
    test: poolCredentialsTest
  },
  {
    name: "pool: modules without isolation are given none of its credentials",
    file: "src/agent/OwnCredentials.ts",
    text: `level === "process" &&`,
    broken: `level === "seatbelt" &&`,
    test: "test/src/agent/OwnCredentials.test.ts"
  },
  {
    name: "pool: a plan that holds its credentials stays",
    file: "runner/execution/ProvidedInPlan.ts",
    text: "if (held === undefined) return",
    broken: "if (held !== null) return",
    test: planTest
  },
  {
    name: "pool: only what the state held itself is there already",
    file: "runner/execution/ProvidedInPlan.ts",
    text: "!known.has(text)",
    broken: "known.size === 0",
    test: planTest
  },
  {
    name: "pool: its credentials are no inputs of a module",
    file: "runner/execution/EnvironmentNames.ts",
    text: `name.startsWith("TF_VAR_")`,
    broken: `name.startsWith("TF_VAR_NONE_")`,
    test: providedTest
  },
  {
    name: "pool: Outputs that may repeat its credentials are private",
    file: "actors/running/execution/ApplyRecovery.ts",
    text: "|| (yield* held.holdsUnknown(run.id))",
    broken: "|| run.id === null",
    test: poolCredentialsTest
  },
  {
    name: "pool: another pool does not use its credentials",
    file: "actors/running/execution/PoolObstacle.ts",
    text: "pool === undefined || pool === providedBy.pool",
    broken: "pool === undefined || pool !== providedBy.name",
    test: poolCredentialsTest
  },
  {
    name: "pool: two Connections of a provider are not both used",
    file: "actors/running/execution/PoolObstacle.ts",
    text: "size > 1 && rows.some",
    broken: "size > 9 && rows.some",
    test: "test/actors/inputs/connection/PoolCredentials.test.ts"
  },
  {
    name: "pool: a drift check leaves the last place to people",
    file: "actors/running/queue/RunQueue.ts",
    text: "(yield* reach.keptPlaces(pool)) !== undefined",
    broken: "(yield* reach.keptPlaces(pool)) === 0",
    test: "test/actors/running/queue/AgentQueue.test.ts"
  },
  {
    name: "pool: a scheduled check is preempted only where that helps",
    file: "actors/running/agent-pool/AgentPlaces.ts",
    text: "agents.some(({ id }) => id === owner)",
    broken: "agents.length > 0 && owner.length > 0",
    test: "test/actors/running/queue/AgentQueue.test.ts"
  },
  {
    name: "pool: after a restore no apply starts before earlier leases are over",
    file: "actors/running/agent-pool/EarlierLeases.ts",
    text: "passed < seconds((until - begun.millis) / 1000)",
    broken: "until < 0",
    test: "test/src/http/agent/AfterRestore.test.ts"
  },
  {
    name: "pool: after a restore the control plane waits for the pools' leases, too",
    file: "actors/running/queue/RunQueue.ts",
    text: "(yield* leases.end) === undefined",
    broken: "(yield* leases.end) !== null",
    test: "test/actors/running/queue/HeldApplies.test.ts"
  }
]
