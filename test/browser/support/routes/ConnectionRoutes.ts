import { connections } from "../records/Connections.ts"
import { newId } from "../records/Seeds.ts"
import { type Answer, type Asked, missing, ok, textField } from "./Answer.ts"
import type { World } from "./World.ts"

export const connectionRoute = (world: World, id: string, tail: string | undefined, asked: Asked): Answer => {
  if (asked.method === "GET") return ok({ connections: world.empty ? [] : world.connections })
  const template = connections[0]
  if (template === undefined) return missing
  const known = world.connections.find((each) => each.id === id)
  if (asked.method === "DELETE") {
    world.connections = world.connections.filter((each) => each.id !== id)
    return ok({})
  }
  if (asked.method === "PATCH" && known !== undefined) {
    const displayName = textField(asked.body, "displayName") ?? known.displayName
    return ok({ connection: { ...known, displayName }, tested: "completeness", supersededRunIds: [] })
  }
  // Returns a dashboard address instead of the authorization server's address.
  if (id === "oauth") return ok({ authorizationUrl: `/w/acme/connections?connected=${connections[0]?.id}` })
  // Returns a dashboard address instead of the address of the form that leads to GitHub.
  if (id === "github-app") return ok({ formUrl: `/w/acme/connections?connected=${connections[0]?.id}` })
  if (tail === "test") return ok({ connection: { ...template, id, status: "verified" }, tested: "completeness" })
  if (id !== "") return ok({ connection: { ...template, id, status: tail === "revoke" ? "revoked" : "verified" } })
  const made = {
    ...template,
    id: newId("conn"),
    provider: textField(asked.body, "provider") ?? "",
    displayName: textField(asked.body, "displayName") ?? ""
  }
  world.connections.push(made)
  return ok({ connection: made }, 201)
}
