import { newId, without } from "../records/Seeds.ts"
import { type Answer, type Asked, missing, ok, textField } from "./Answer.ts"
import type { World } from "./World.ts"

export const shareRoute = (world: World, id: string, action: string | undefined, asked: Asked): Answer => {
  if (id === "" && asked.method === "GET") return ok({ outputShares: world.shares })
  const template = world.shares[0]
  if (template === undefined) return missing
  if (id === "") {
    const made = {
      ...without(template, "approvedAt", "revokedAt"),
      id: newId("oshare"),
      fromWorkspaceId: textField(asked.body, "fromWorkspaceId") ?? "",
      toWorkspaceId: textField(asked.body, "toWorkspaceId") ?? "",
      producerCapsuleId: textField(asked.body, "producerCapsuleId") ?? "",
      status: "pending" as const,
      createdAt: new Date().toISOString()
    }
    world.shares.push(made)
    return ok({ outputShare: made }, 201)
  }
  const status = action === "approve" ? ("active" as const) : ("revoked" as const)
  world.shares = world.shares.map((share) => (share.id === id ? { ...share, status } : share))
  return ok({ outputShare: world.shares.find((share) => share.id === id) })
}
