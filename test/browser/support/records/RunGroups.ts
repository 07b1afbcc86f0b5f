import type { RunGroup } from "../../../../src/dashboard/api/Types.ts"
import { storefrontId } from "./Capsules.ts"
import { ago } from "./Seeds.ts"
import { workspaceId } from "./Workspaces.ts"

export const checkoutId = "cap_0000000000000002"
export const waitingUpdate: RunGroup = {
  id: "rgrp_000000000000000000000001",
  workspaceId,
  type: "update",
  status: "waiting_approval",
  runIds: ["run_0000000000000005"],
  createdAt: ago(20),
  waves: [
    {
      wave: 1,
      state: "waiting_approval",
      capsules: [
        {
          capsuleId: storefrontId,
          name: "storefront",
          state: "waiting_approval",
          planRunId: "run_0000000000000005"
        }
      ]
    },
    {
      wave: 2,
      state: "waiting",
      capsules: [
        {
          capsuleId: checkoutId,
          name: "checkout",
          state: "waiting",
          waitsFor: [{ capsuleId: storefrontId, name: "storefront", state: "waiting_approval" }]
        }
      ]
    }
  ]
}
