import { describe, expect, test } from "bun:test"
import { Option } from "effect"
import {
  type AgentNeed,
  type Lack,
  lackOf,
  needInWords,
  stricter,
  toolFor
} from "../../../../actors/running/agent-pool/AgentFit.ts"

const facts: Parameters<typeof lackOf>[0] = {
  id: "one",
  tools: [
    { name: "terraform", version: "1.11.4" },
    { name: "opentofu", version: "1.9.10" },
    { name: "opentofu", version: "1.10.2" }
  ],
  platform: "linux_amd64",
  isolation: "namespaces",
  provided: ["cloud"],
  capabilities: ["carried-files"]
}

const cases: ReadonlyArray<readonly [title: string, need: AgentNeed, lack: Lack | undefined]> = [
  ["any tool", { tool: {} }, undefined],
  ["a tool by name", { tool: { name: "terraform" } }, undefined],
  ["exactly the version that it has", { tool: { name: "opentofu", version: "1.9.10" } }, undefined],
  [
    "another version",
    { tool: { name: "terraform", version: "1.11.5" } },
    { property: "tool", needed: "Terraform 1.11.5" }
  ],
  [
    "the version of the other tool",
    { tool: { name: "opentofu", version: "1.11.4" } },
    { property: "tool", needed: "OpenTofu 1.11.4" }
  ],
  ["the platform of the plan", { tool: {}, platform: "linux_amd64" }, undefined],
  ["another platform", { tool: {}, platform: "linux_arm64" }, { property: "platform", needed: "linux_arm64" }],
  ["its own level of isolation", { tool: {}, isolation: "namespaces" }, undefined],
  ["a lower level", { tool: {}, isolation: "landlock" }, undefined],
  ["a higher level", { tool: {}, isolation: "bubblewrap" }, { property: "isolation", needed: "bubblewrap" }],
  ["its own credentials", { tool: {}, provided: ["cloud"] }, undefined],
  [
    "the end of leases from before a restore",
    { tool: {}, heldUntil: "2026-03-01T12:00:00.000Z" },
    { property: "leases", needed: "2026-03-01T12:00:00.000Z" }
  ],
  ["the credentials of the plan", { tool: {}, provided: ["cloud"], holders: ["two", "one"] }, undefined],
  [
    "credentials of the plan that were replaced here",
    { tool: {}, provided: ["cloud"], holders: ["two"] },
    { property: "credentials", needed: "cloud that its plan was made with" }
  ],
  ["a capability that it has", { tool: {}, capability: "carried-files" }, undefined],
  [
    "a capability of a later release",
    { tool: {}, capability: "refresh-only" },
    { property: "capability", needed: "refresh-only" }
  ],
  ["other credentials", { tool: {}, provided: ["cloud", "other"] }, { property: "credentials", needed: "other" }]
]

describe("Agent shortcomings", () => {
  test.each(cases)("%s", (_, need, lack) => {
    expect(lackOf(facts, need)).toEqual(lack)
  })
})

describe("Tool selection", () => {
  test("a Run that can use either tool uses the highest available version of OpenTofu", () => {
    expect(toolFor(facts, { tool: {} })).toEqual(Option.some({ name: "opentofu", version: "1.10.2" }))
    expect(toolFor(facts, { tool: { name: "terraform" } })).toEqual(
      Option.some({ name: "terraform", version: "1.11.4" })
    )
    expect(toolFor({ tools: [] }, { tool: {} })).toEqual(Option.none())
  })
})

test("the stricter of two minimum isolation levels applies", () => {
  expect(stricter(undefined, undefined)).toBeUndefined()
  expect(stricter("landlock", undefined)).toBe("landlock")
  expect(stricter(undefined, "landlock")).toBe("landlock")
  expect(stricter("landlock", "bubblewrap")).toBe("bubblewrap")
  expect(stricter("bubblewrap", "landlock")).toBe("bubblewrap")
})

test("the description of a Run's requirements lists every property", () => {
  expect(needInWords({ tool: { name: "terraform", version: "1.11.4" }, platform: "linux_amd64" })).toBe(
    "Terraform 1.11.4 on linux_amd64"
  )
  expect(needInWords({ tool: {}, isolation: "bubblewrap" })).toBe("a tool with at least the isolation bubblewrap")
  expect(needInWords({ tool: {}, provided: ["cloud", "other"] })).toBe("a tool with the credentials cloud, other")
  expect(needInWords({ tool: {}, provided: ["cloud"], holders: ["one"] })).toBe(
    "a tool with the credentials cloud that its plan was made with"
  )
})
