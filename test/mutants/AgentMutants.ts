import type { Mutant } from "./Mutant.ts"

const leaseTest = "test/runner/agent/LeaseClock.test.ts"
const spoolTest = "test/runner/agent/Spool.test.ts"
const claimsTest = "test/src/http/agent/AgentClaims.test.ts"
const guardsTest = "test/src/http/agent/AgentGuards.test.ts"
const liesTest = "test/src/http/agent/AgentLies.test.ts"
const poolsTest = "test/src/http/agent/AgentPools.test.ts"
const transfersTest = "test/src/http/agent/RevokedTransfers.test.ts"
const startTest = "test/actors/running/agent/AgentStart.test.ts"
const agentTest = "test/src/agent/AgentProcess.test.ts"

/** Mutants of the rules that prevent an agent from running two tools on one Capsule, and from losing results. */
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
    file: "runner/agent/Spool.ts",
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
    name: "agent: a cancelled apply is not started",
    file: "actors/running/execution/AutomaticObstacle.ts",
    text: "if (run.cancel_requested_at !== null)",
    broken: "if (run.cancel_requested_at === undefined)",
    test: startTest
  },
  {
    name: "agent: an apply is not started without its approvals",
    file: "actors/running/execution/AutomaticObstacle.ts",
    text: "return unapproved === undefined ?",
    broken: "return unapproved !== null ?",
    test: startTest
  },
  {
    name: "agent: an apply is not started on a Capsule that moved",
    file: "actors/running/execution/CapsuleObstacle.ts",
    text: "if (authorityMoved(run, capsule))",
    broken: "if (authorityMoved(run, capsule) && run.fence < 0)",
    test: startTest
  },
  {
    name: "agent: a repeated start is refused after a cancel",
    file: "actors/running/execution/ApplyStart.ts",
    text: `reason?.code === "cancelled" ? { kind: "refused", reason }`,
    broken: `reason?.code === "never" ? { kind: "refused", reason }`,
    test: startTest
  },
  {
    name: "agent: a cancelled Run is not accepted",
    file: "actors/running/agent/AgentOffers.ts",
    text: "if (run.cancel_requested_at !== null) return false",
    broken: "if (run.cancel_requested_at === undefined) return false",
    test: startTest
  },
  {
    name: "agent: a cancelled Run is not offered",
    file: "actors/running/agent/AgentOffers.ts",
    text: "|| (yield* isWithdrawn(session, row))",
    broken: "",
    test: startTest
  },
  {
    name: "agent: an agent that hears nothing is shown",
    file: "actors/running/agent/LostAnswers.ts",
    text: "unansweredSeconds >= lostAfterSeconds &&\n  answeredAgo",
    broken: "unansweredSeconds < 0 &&\n  answeredAgo",
    test: "test/actors/running/agent/LostAnswers.test.ts"
  },
  {
    name: "agent: a server that was down has lost no answers",
    file: "actors/running/agent/LostAnswers.ts",
    text: "answeredAgo < seconds(Math.floor(unansweredSeconds - toleranceSeconds))",
    broken: "answeredAgo >= 0n",
    test: "test/actors/running/agent/LostAnswers.test.ts"
  },
  {
    name: "a local apply reads its Run again before its tool starts",
    file: "actors/running/execution/ApplySteps.ts",
    text: "reason === undefined",
    broken: "reason !== null",
    test: "test/actors/running/execution/StartObstacle.test.ts"
  },
  {
    name: "a scheduled drift check that was switched off is not executed",
    file: "actors/running/execution/AutomaticObstacle.ts",
    text: `run.trigger_kind === "schedule" && run.type === "drift_check"`,
    broken: `run.trigger_kind === "schedule" && run.type === "plan"`,
    test: "test/actors/commands/capsule/DriftSwitch.test.ts"
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
    name: "agent: what an apply left outlives the record of its Run",
    file: "runner/agent/AgentRunFolder.ts",
    text: "if (yield* holdsApply(folder))",
    broken: "if (yield* holdsApply(join(folder, name)))",
    test: "test/runner/agent/AgentRunFolder.test.ts"
  },
  {
    name: "agent: the record of an apply is durable before its tool starts",
    file: "runner/agent/AgentRun.ts",
    text: "Effect.all([started, kept]",
    broken: "Effect.all([started]",
    test: "test/runner/agent/AgentRun.test.ts"
  },
  {
    name: "agent: a state that was only printed is kept before the tool counts as stopped",
    file: "runner/agent/JobExecution.ts",
    text: "[files, isKept(state)]",
    broken: "[files, Effect.void]",
    test: "test/runner/agent/AgentRun.test.ts"
  },
  {
    name: "agent: the state that an apply left goes to the disk at once",
    file: "runner/agent/JobExecution.ts",
    text: "stateFound: keeper.begin",
    broken: "stateFound: () => Effect.void",
    test: "test/runner/agent/AgentRun.test.ts"
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
    file: "actors/running/agent/AgentClaims.ts",
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
    name: "agent: a state is opened before its result is acknowledged",
    file: "actors/running/agent/AgentReports.ts",
    text: `["state", state]`,
    broken: `["state", undefined]`,
    test: claimsTest
  },
  {
    name: "agent: a message carries only the files that it names",
    file: "actors/running/agent/InlineBlobs.ts",
    text: "named[file.kind] === file.digest",
    broken: `named[file.kind] !== ""`,
    test: liesTest
  },
  {
    name: "agent: a message that is not answered in time is sent without its files",
    file: "src/agent/HttpTransport.ts",
    text: "isSlow = true",
    broken: "isSlow = false",
    test: "test/src/agent/HttpTransport.test.ts"
  },
  {
    name: "agent: processes under an offer are dead before it goes to another",
    file: "runner/agent/OfferAcceptance.ts",
    text: "lease.secondsUntilKill() > leastOfOffer",
    broken: "lease.secondsUntilKill() > -leastOfOffer",
    test: "test/runner/agent/OfferAcceptance.test.ts"
  },
  {
    name: "agent: an offer is not renewed",
    file: "src/agent/AgentRuns.ts",
    text: "handle.lease !== undefined && handle.isAccepted",
    broken: "handle.lease !== undefined",
    test: "test/src/agent/AgentRuns.test.ts"
  },
  {
    name: "agent: nobody hoards Runs",
    file: "actors/running/agent/AgentOffers.ts",
    text: "mostOfPlaces * session.facts.places",
    broken: "mostOfPlaces * 1024",
    test: liesTest
  },
  {
    name: "agent: a claim is of the agent that made it",
    file: "actors/running/agent/AgentClaims.ts",
    text: "AND fence = ${fence} AND agent_id = ${agent.id}`)",
    broken: "AND fence = ${fence} AND agent_id <> ${agent.id + 1}`)",
    test: liesTest
  },
  {
    name: "agent: a nonce is good once",
    file: "actors/running/agent-pool/AgentNonces.ts",
    text: "nonces.delete(nonce)",
    broken: "void nonce",
    test: liesTest
  },
  {
    name: "agent: a file is one of its own Run",
    file: "actors/running/agent/AgentFiles.ts",
    text: "snapshot?.archive_digest !== digest",
    broken: "snapshot === undefined",
    test: liesTest
  },
  {
    name: "agent: a line is made safe again",
    file: "actors/running/agent/AgentReports.ts",
    text: "plainText(entry.text)",
    broken: "entry.text",
    test: liesTest
  },
  {
    name: "agent: a state says itself which one it is",
    file: "actors/ledger/state/ReceivedState.ts",
    text: "if (problem !== undefined) return",
    broken: "if (problem === null) return",
    test: "test/actors/ledger/state/ReceivedState.test.ts"
  },
  {
    name: "agent: who was revoked meanwhile is given nothing",
    file: "actors/running/agent-pool/CurrentAgent.ts",
    text: "AND sign_key = ${agent.sign_key} AND revoked_at IS NULL",
    broken: "AND sign_key = ${agent.sign_key}",
    test: guardsTest
  },
  {
    name: "agent: a download ends with the session",
    file: "src/http/agent/AgentRoutes.ts",
    text: "Stream.haltWhen(bytes(from), untilOver(session))",
    broken: "bytes(from)",
    test: transfersTest
  },
  {
    name: "agent: an upload ends with the session",
    file: "src/http/agent/AgentRoutes.ts",
    text: "Effect.raceFirst(untilOver(session)),",
    broken: "",
    test: transfersTest
  },
  {
    name: "agent: a message is carried out as a whole",
    file: "src/http/agent/AgentRoutes.ts",
    text: "Effect.uninterruptible(Effect.flatMap(sessionOf(options), write))",
    broken: "Effect.flatMap(sessionOf(options), write)",
    test: guardsTest
  },
  {
    name: "agent: a claim without a lease gets one",
    file: "actors/running/agent/AgentMonitor.ts",
    text: "yield* adopt\n",
    broken: "void adopt\n",
    test: guardsTest
  },
  {
    name: "agent: what a disk does not give now is tried again",
    file: "actors/running/agent/AgentSettlement.ts",
    text: `error._tag === "Rejected" || error.reason !== "storage"`,
    broken: `error._tag === "Rejected" || error.reason !== "missing"`,
    test: guardsTest
  },
  {
    name: "agent: older files of a kind go",
    file: "actors/running/agent/AgentBlobs.ts",
    text: ".slice(mostKept(kind) - 1)",
    broken: ".slice(mostKept(kind) + 9)",
    test: guardsTest
  },
  {
    name: "agent: uploads of a file take turns",
    file: "actors/running/agent/AgentBlobs.ts",
    text: "lock.withPermits(1)(upload)",
    broken: "(void lock, upload)",
    test: "test/actors/running/agent/AgentBlobs.test.ts"
  },
  {
    name: "agent: files of a claim are not swept",
    file: "actors/running/agent/AgentBlobs.ts",
    text: "if (!names.has(name))",
    broken: "if (names.has(name))",
    test: guardsTest
  },
  {
    name: "agent: a transfer is continued after a restart",
    file: "actors/running/agent-pool/ServerKeys.ts",
    text: `"svc-agent-derived-keys-v1").update(seal.d)`,
    broken: `"svc-agent-derived-keys-v1").update(String(performance.now()))`,
    test: guardsTest
  },
  {
    name: "agent: a started apply is not ended as untouched",
    file: "actors/running/agent/AgentControls.ts",
    text: "run === undefined || run.start_acknowledged_at !== null",
    broken: "run === undefined",
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
    name: "agent: only an empty journal proves that nothing was started",
    file: "runner/execution/Recovery.ts",
    text: "Option.exists(journal, ({ length }) => length === 0)",
    broken: "Option.getOrElse(journal, () => []).length === 0",
    test: "test/runner/execution/Recovery.test.ts"
  },
  {
    name: "agent: a Capsule is released only from a silent agent",
    file: "actors/running/agent/AgentReleases.ts",
    text: "lease?.isUnreachable !== true",
    broken: "lease === undefined",
    test: poolsTest
  },
  {
    name: "agent: a server that starts listens before a Capsule is released",
    file: "actors/running/agent/AgentReleases.ts",
    text: "lease.heardAt <= unreachableAfter",
    broken: "lease.heardAt < 0n",
    test: poolsTest
  },
  {
    name: "agent: a Capsule is released only under the fence that was seen",
    file: "actors/running/agent/AgentReleases.ts",
    text: "lease.fence !== fence",
    broken: "lease.fence < 0",
    test: poolsTest
  },
  {
    name: "agent: silence is remembered by a server that starts again",
    file: "actors/running/agent/AgentMonitor.ts",
    text: "run.agent_unreachable_since !== null",
    broken: "run.fence < 0",
    test: poolsTest
  },
  {
    name: "agent: one that owes a state is not forgotten",
    file: "actors/running/agent-pool/SilentAgents.ts",
    text: "AND NOT ${yield* owes}",
    broken: "AND NOT (0 = 1)",
    test: "test/actors/running/agent-pool/SilentAgents.test.ts"
  },
  {
    name: "agent: no poll without a free place",
    file: "src/agent/AgentWork.ts",
    text: "low || runs.working() >= places",
    broken: "low",
    test: agentTest
  },
  {
    name: "agent: a place is taken before the next poll",
    file: "src/agent/AgentRuns.ts",
    text: "        handles.add(handle)\n        yield* work(handle).pipe(",
    broken:
      "        yield* Effect.suspend(() => Effect.andThen(Effect.sync(() => handles.add(handle)), work(handle))).pipe(",
    test: "test/src/agent/AgentRuns.test.ts"
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
