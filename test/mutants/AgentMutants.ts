import type { Mutant } from "./Mutant.ts"

const leaseTest = "test/runner/agent/LeaseClock.test.ts"
const spoolTest = "test/runner/agent/Spool.test.ts"
const claimsTest = "test/src/http/agent/AgentClaims.test.ts"
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
  }
]
