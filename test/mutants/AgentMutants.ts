import type { Mutant } from "./Mutant.ts"

const leaseTest = "test/runner/agent/LeaseClock.test.ts"
const spoolTest = "test/runner/agent/Spool.test.ts"
const claimsTest = "test/src/http/agent/AgentClaims.test.ts"
const rotationTest = "test/src/http/agent/KeyRotation.test.ts"
const providedTest = "test/runner/execution/ProvidedCredentials.test.ts"
const planTest = "test/runner/execution/ProvidedInPlan.test.ts"
const guardsTest = "test/src/http/agent/AgentGuards.test.ts"
const liesTest = "test/src/http/agent/AgentLies.test.ts"
const poolsTest = "test/src/http/agent/AgentPools.test.ts"
const agentTest = "test/src/agent/AgentProcess.test.ts"

/** What prevents an agent from running two tools on one Capsule, and from losing results. */
export const agentMutants: ReadonlyArray<Mutant> = [
  {
    name: "agent: time in suspend counts",
    file: "runner/agent/LeaseClock.ts",
    text: "Math.max(clocks.bootSeconds() - since.boot, clocks.monotonicSeconds() - since.monotonic)",
    broken: "clocks.monotonicSeconds() - since.monotonic",
    test: leaseTest
  },
  {
    name: "agent: a late answer does not shorten a lease",
    file: "runner/agent/LeaseClock.ts",
    text: "if (later.boot >= held.sent.boot) held",
    broken: "held",
    test: leaseTest
  },
  {
    name: "agent: a batch number is not used twice",
    file: "runner/agent/Spool.ts",
    text: "noteStored(folder, stored)",
    broken: "void stored",
    test: spoolTest
  },
  {
    name: "agent: a torn entry is cut",
    file: "runner/agent/SpoolFile.ts",
    text: "line.slice(0, checksumDigits) === checksum(text) ? decodeEntry(text) : Option.none()",
    broken: "decodeEntry(text)",
    test: spoolTest
  },
  {
    name: "agent: an apply starts after its start is recorded",
    file: "runner/execution/ApplyExecution.ts",
    text: "yield* recordedStart(session, control)",
    broken: "void recordedStart(session, control)",
    test: agentTest
  },
  {
    name: "agent: the tool is stopped before the lease ends",
    file: "runner/agent/AgentRun.ts",
    text: "lease.secondsUntilInterrupt() > 0 ? Effect.void",
    broken: "lease.secondsUntilInterrupt() > -1_000 ? Effect.void",
    test: agentTest
  },
  {
    name: "agent: what was left is handed in before it is removed",
    file: "runner/agent/AgentRun.ts",
    text: `end === "hand_in" && handle.room.kind === "apply" ? handedIn(handle)`,
    broken: `end === "hand_in" && handle.room.kind !== "apply" ? handedIn(handle)`,
    test: agentTest
  },
  {
    name: "agent: only an offer that its server signed is opened",
    file: "runner/agent/JobExecution.ts",
    text: "!(yield* party.isOffered(offer))",
    broken: "!party",
    test: agentTest
  },
  {
    name: "agent: an unknown Run is handed in",
    file: "actors/agent/AgentClaims.ts",
    text: `{ ...none, order: "hand_in" as const }`,
    broken: "none",
    test: claimsTest
  },
  {
    name: "agent: announced keys are signed",
    file: "schema/agent/AgentProtocol.ts",
    text: `hello.nextKeys === undefined ? "none"`,
    broken: `hello.nonce !== "" ? "none"`,
    test: claimsTest
  },
  {
    name: "agent: a stopped apply is not offered again",
    file: "actors/agent/AgentControls.ts",
    text: "run.cancel_requested_at === null",
    broken: "run.attempt >= 0",
    test: claimsTest
  },
  {
    name: "agent: a state is opened before its result is acknowledged",
    file: "actors/agent/AgentReports.ts",
    text: `["state", state]`,
    broken: `["state", undefined]`,
    test: claimsTest
  },
  {
    name: "agent: nobody hoards Runs",
    file: "actors/agent/AgentOffers.ts",
    text: "mostOfPlaces * session.facts.places",
    broken: "mostOfPlaces * 1024",
    test: liesTest
  },
  {
    name: "agent: a claim is of the agent that made it",
    file: "actors/agent/AgentClaims.ts",
    text: "AND fence = ${fence} AND agent_id = ${agent.id}`)",
    broken: "AND fence = ${fence} AND agent_id <> ${agent.id + 1}`)",
    test: liesTest
  },
  {
    name: "agent: a nonce is good once",
    file: "actors/pool/AgentSessions.ts",
    text: "nonces.delete(nonce)",
    broken: "void nonce",
    test: liesTest
  },
  {
    name: "agent: a file is one of its own Run",
    file: "actors/agent/AgentFiles.ts",
    text: "snapshot?.archive_digest !== digest",
    broken: "snapshot === undefined",
    test: liesTest
  },
  {
    name: "agent: a line is made safe again",
    file: "actors/agent/AgentReports.ts",
    text: "plainText(entry.text)",
    broken: "entry.text",
    test: liesTest
  },
  {
    name: "agent: a state says itself which one it is",
    file: "actors/state/SentState.ts",
    text: "if (problem !== undefined) return",
    broken: "if (problem === null) return",
    test: "test/actors/state/SentState.test.ts"
  },
  {
    name: "agent: who was revoked meanwhile is given nothing",
    file: "actors/agent/AgentOffers.ts",
    text: "present.revoked_at !== null || present.drain_requested_at !== null",
    broken: "present.drain_requested_at !== null",
    test: guardsTest
  },
  {
    name: "agent: a message is carried out as a whole",
    file: "src/http/AgentRoutes.ts",
    text: "Effect.uninterruptible(Effect.flatMap(sessionOf(options), write))",
    broken: "Effect.flatMap(sessionOf(options), write)",
    test: guardsTest
  },
  {
    name: "agent: a claim without a lease gets one",
    file: "actors/agent/AgentMonitor.ts",
    text: "yield* adopt\n",
    broken: "void adopt\n",
    test: guardsTest
  },
  {
    name: "agent: what a disk does not give now is tried again",
    file: "actors/agent/AgentSettlement.ts",
    text: `error._tag === "Rejected" || error.reason !== "storage"`,
    broken: `error._tag === "Rejected" || error.reason !== "missing"`,
    test: guardsTest
  },
  {
    name: "agent: older files of a kind go",
    file: "actors/agent/AgentBlobs.ts",
    text: ".slice(mostKept(kind) - 1)",
    broken: ".slice(mostKept(kind) + 9)",
    test: guardsTest
  },
  {
    name: "agent: files of a claim are not swept",
    file: "actors/agent/AgentBlobs.ts",
    text: "if (!names.has(name))",
    broken: "if (names.has(name))",
    test: guardsTest
  },
  {
    name: "agent: a transfer is continued after a restart",
    file: "actors/pool/ServerKeys.ts",
    text: `"svc-agent-derived-keys-v1").update(seal.d)`,
    broken: `"svc-agent-derived-keys-v1").update(String(performance.now()))`,
    test: guardsTest
  },
  {
    name: "agent: a started apply is not ended as untouched",
    file: "actors/agent/AgentControls.ts",
    text: "present === undefined || present.start_acknowledged_at !== null",
    broken: "present === undefined",
    test: guardsTest
  },
  {
    name: "agent: the guard kills at the deadline",
    file: "runner/agent/guard/GuardMain.ts",
    text: "isOver || now >= killAtBoot",
    broken: "isOver && now >= killAtBoot",
    test: "test/runner/agent/guard/Guard.test.ts"
  },
  {
    name: "agent: its former keys stay until no Run is held",
    file: "runner/agent/AgentFolder.ts",
    text: "former !== undefined && (yield* runNames).length === 0",
    broken: "former !== undefined",
    test: rotationTest
  },
  {
    name: "agent: where one pair of keys is refused, the other is tried",
    file: "src/agent/KeyChange.ts",
    text: "if (isRefused(problem)) return announcing",
    broken: "if (isRefused(problem)) return Effect.fail(problem)",
    test: rotationTest
  },
  {
    name: "agent: nobody announces the keys of another",
    file: "actors/pool/AgentSessions.ts",
    text: "if (other !== undefined)\n          return yield* new Rejected",
    broken: "if (other === null)\n          return yield* new Rejected",
    test: rotationTest
  },
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
    file: "actors/execution/ApplyRecovery.ts",
    text: "|| (yield* held.holdsUnknown(run.id))",
    broken: "|| run.id === null",
    test: "test/src/http/agent/PoolCredentials.test.ts"
  },
  {
    name: "pool: another pool does not use its credentials",
    file: "actors/execution/PoolObstacle.ts",
    text: "pool === undefined || pool === providedBy.pool",
    broken: "pool === undefined || pool !== providedBy.name",
    test: "test/src/http/agent/PoolCredentials.test.ts"
  },
  {
    name: "pool: two Connections of a provider are not both used",
    file: "actors/execution/PoolObstacle.ts",
    text: "size > 1 && rows.some",
    broken: "size > 9 && rows.some",
    test: "test/actors/connection/PoolCredentials.test.ts"
  },
  {
    name: "agent: a Capsule is released only from a silent agent",
    file: "actors/agent/AgentReleases.ts",
    text: "lease?.isUnreachable !== true",
    broken: "lease === undefined",
    test: poolsTest
  },
  {
    name: "agent: a server that starts listens before a Capsule is released",
    file: "actors/agent/AgentReleases.ts",
    text: "lease.heardAt <= unreachableAfter",
    broken: "lease.heardAt < 0n",
    test: poolsTest
  },
  {
    name: "agent: a Capsule is released only under the fence that was seen",
    file: "actors/agent/AgentReleases.ts",
    text: "lease.fence !== fence",
    broken: "lease.fence < 0",
    test: poolsTest
  },
  {
    name: "agent: silence is remembered by a server that starts again",
    file: "actors/agent/AgentMonitor.ts",
    text: "run.agent_unreachable_since !== null",
    broken: "run.fence < 0",
    test: poolsTest
  },
  {
    name: "agent: one that owes a state is not forgotten",
    file: "actors/pool/GoneAgents.ts",
    text: "AND NOT ${yield* owes}",
    broken: "AND NOT (0 = 1)",
    test: "test/actors/pool/GoneAgents.test.ts"
  },
  {
    name: "agent: a place is taken before the next poll",
    file: "src/agent/AgentWork.ts",
    text: "yield* Deferred.await(held)",
    broken: "yield* Effect.void",
    test: agentTest
  },
  {
    name: "agent: the wait for a state is not the time of its upload",
    file: "runner/agent/StateUploads.ts",
    text: "Effect.flatMap((state) => Effect.timed(send(state)))",
    broken: "Effect.flatMap(send), Effect.timed",
    test: "test/runner/agent/StateUploads.test.ts"
  },
  {
    name: "agent: a plan that was killed with its lease has no result",
    file: "runner/agent/JobExecution.ts",
    text: `offer.kind !== "apply" && leaseWasOver()`,
    broken: `offer.kind !== "apply" && leaseWasOver() && room.claim.fence < 0`,
    test: "test/src/agent/AgentCrash.test.ts"
  }
]
