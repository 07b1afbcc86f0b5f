import { expect, test } from "bun:test"
import { providerObstacle } from "../../../../actors/running/execution/ProviderObstacle.ts"
import { WorkspaceId } from "../../../../schema/records/Ids.ts"

const id = (last: string) => WorkspaceId.make(`ws_${last.padStart(26, "0")}`)
const here = id("1")
const at = "2026-01-02T00:00:00.000Z"
const requirement = { provider: "hashicorp/aws", moduleLocalName: "aws" }
const bound = {
  expires_at: null,
  provider: "registry.opentofu.org/hashicorp/aws",
  scope: "workspace",
  status: "verified",
  workspace_id: here
} as const

type Case = readonly [
  name: string,
  given: {
    readonly requirement?: Partial<Parameters<typeof providerObstacle>[0]>
    readonly bound?: Partial<NonNullable<Parameters<typeof providerObstacle>[1]>> | "none"
    readonly denied?: ReadonlyArray<string>
  },
  blocked: readonly [status: string, reason: string] | undefined
]

const cases: ReadonlyArray<Case> = [
  ["a verified Connection of the Workspace serves", {}, undefined],
  ["one that was not tested yet serves", { bound: { status: "pending" } }, undefined],
  ["one that ends later serves", { bound: { expires_at: "2026-01-02T00:00:00.001Z" } }, undefined],
  ["one that ends now does not", { bound: { expires_at: at } }, ["blocked_missing_connection", "is expired"]],
  ["a revoked one does not", { bound: { status: "revoked" } }, ["blocked_missing_connection", "is revoked"]],
  ["one with an error does not", { bound: { status: "error" } }, ["blocked_missing_connection", "is error"]],
  [
    "one to be confirmed does not",
    { bound: { status: "unconfirmed" } },
    ["blocked_missing_connection", "restore-review"]
  ],
  ["one of another Workspace does not", { bound: { workspace_id: id("2") } }, ["blocked_policy", "another Workspace"]],
  ["one of the operator serves every Workspace", { bound: { scope: "operator", workspace_id: null } }, undefined],
  [
    "one for another provider does not",
    { bound: { provider: "hashicorp/google" } },
    ["blocked_policy", "is for hashicorp/google"]
  ],
  [
    "a denied provider is refused, in any spelling",
    { denied: ["registry.terraform.io/hashicorp/aws"] },
    ["blocked_policy", "operator does not allow"]
  ],
  [
    "a denied provider is refused without a Connection",
    { bound: "none", denied: ["hashicorp/aws"] },
    ["blocked_policy", "operator does not allow"]
  ],
  [
    "without a Connection the module's name is reported",
    { bound: "none" },
    ["blocked_missing_connection", "bound to aws."]
  ],
  [
    "and its alias",
    { bound: "none", requirement: { childAlias: "west" } },
    ["blocked_missing_connection", "bound to aws.west."]
  ],
  [
    "a provider without credentials needs none",
    { bound: "none", requirement: { provider: "hashicorp/random" } },
    undefined
  ]
]

test.each(cases)("%s", (_, given, blocked) => {
  const obstacle = providerObstacle(
    { ...requirement, ...given.requirement },
    given.bound === "none" ? undefined : { ...bound, ...given.bound },
    { at, deniedProviders: given.denied ?? [], workspaceId: here }
  )
  if (blocked === undefined) expect(obstacle).toBeUndefined()
  else expect([obstacle?.status, obstacle?.blockedReason]).toEqual([blocked[0], expect.stringContaining(blocked[1])])
})
