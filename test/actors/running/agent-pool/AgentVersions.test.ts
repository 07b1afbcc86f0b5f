import { expect, test } from "bun:test"
import { versionProblem } from "../../../../actors/running/agent-pool/AgentVersions.ts"
import { agentProtocol } from "../../../../schema/agent/AgentIdentity.ts"

test.each([
  ["1.4.2", "1.4.0", undefined],
  ["1.4.2", "1.4.9", undefined],
  ["1.4.2", "1.3.0", undefined],
  ["1.4.2", "1.2.9", true],
  // The server is upgraded before its agents, so its agents may be older.
  ["1.4.2", "1.5.0", true],
  ["2.0.0", "1.9.3", undefined],
  ["2.1.0", "1.9.3", true],
  ["2.0.0", "3.0.0", true],
  ["1.4.2", "built-by-hand", true],
  [undefined, "0.0.1", undefined]
] as const)(
  "a server of version %p reports the right problem about an agent of version %p",
  (server, version, speaks) => {
    expect(versionProblem(server, { protocol: agentProtocol, version })?.speaks).toBe(speaks)
  }
)

test("an agent with a different protocol is unsupported, and the message for each version problem contains the version to install", () => {
  const other = versionProblem("1.4.2", { protocol: agentProtocol + 1, version: "1.4.2" })
  expect(other).toMatchObject({ speaks: false, message: expect.stringContaining("1.4.2") })
  expect(versionProblem("1.4.2", { protocol: agentProtocol, version: "1.0.0" })?.message).toContain("Install svc 1.4.2")
})
