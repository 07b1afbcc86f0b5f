import type { Dependency, OutputShare } from "../../../../src/dashboard/api/Types.ts"
import { storefrontId } from "./Capsules.ts"
import { ago } from "./Seeds.ts"
import { personalId, workspaceId } from "./Workspaces.ts"

export const dependencies: ReadonlyArray<Dependency> = [
  {
    id: "dep_0000000000000001",
    workspaceId,
    producerCapsuleId: "cap_0000000000000004",
    consumerCapsuleId: storefrontId,
    mode: "variable_injection",
    outputs: [{ from: "subnet_ids", to: "subnets", required: true }],
    createdAt: ago(9000)
  },
  {
    id: "dep_0000000000000002",
    workspaceId,
    producerCapsuleId: storefrontId,
    consumerCapsuleId: "cap_0000000000000002",
    mode: "published_output",
    outputs: [{ from: "url", to: "shop_url", required: false }],
    createdAt: ago(9000)
  }
]

export const outputShares: ReadonlyArray<OutputShare> = [
  {
    id: "oshare_0000000000000001",
    fromWorkspaceId: personalId,
    toWorkspaceId: workspaceId,
    producerCapsuleId: "cap_0000000000000091",
    outputs: [{ name: "zone_id", alias: "dns_zone" }],
    status: "pending",
    createdAt: ago(300)
  },
  {
    id: "oshare_0000000000000002",
    fromWorkspaceId: workspaceId,
    toWorkspaceId: personalId,
    producerCapsuleId: storefrontId,
    outputs: [{ name: "url" }, { name: "region" }],
    status: "active",
    createdAt: ago(7000),
    approvedAt: ago(6900)
  }
]
