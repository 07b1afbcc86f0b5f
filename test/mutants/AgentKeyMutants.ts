import type { Mutant } from "./Mutant.ts"

const endedTest = "test/src/http/agent/EndedSessions.test.ts"
const rotationTest = "test/src/http/agent/KeyRotation.test.ts"

/** Mutants of the replacement of an agent's keys, which must end the sessions of the old keys without losing a Run. */
export const agentKeyMutants: ReadonlyArray<Mutant> = [
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
    name: "agent: new keys end the sessions that the former ones began",
    file: "actors/running/agent-pool/AgentSessions.ts",
    text: "rotated === undefined ? 0 : 1",
    broken: "rotated === undefined ? 0 : 0",
    test: endedTest
  },
  {
    name: "agent: what waits under an ended session is offered nothing",
    file: "actors/running/agent-pool/CurrentAgent.ts",
    text: "AND sign_key = ${agent.sign_key} AND revoked_at IS NULL",
    broken: "AND revoked_at IS NULL",
    test: endedTest
  },
  {
    name: "agent: nobody announces the keys of another",
    file: "actors/running/agent-pool/AgentSessions.ts",
    text: "if (other !== undefined)\n          return yield* new Rejected",
    broken: "if (other === null)\n          return yield* new Rejected",
    test: rotationTest
  }
]
