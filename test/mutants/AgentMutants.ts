import type { Mutant } from "./Mutant.ts"

const leaseTest = "test/runner/agent/LeaseClock.test.ts"
const spoolTest = "test/runner/agent/Spool.test.ts"
const agentTest = "test/src/agent/AgentProcess.test.ts"

/** What keeps an agent from two tools on one Capsule, and from forgetting. */
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
    text: `end === "hand_in" && handle.room.kind === "apply" ? handIn(handle)`,
    broken: `end === "hand_in" && handle.room.kind !== "apply" ? handIn(handle)`,
    test: agentTest
  },
  {
    name: "agent: the guard kills at the deadline",
    file: "runner/agent/guard/GuardMain.ts",
    text: "isOver || now >= killAtBoot",
    broken: "isOver && now >= killAtBoot",
    test: "test/runner/agent/guard/Guard.test.ts"
  }
]
