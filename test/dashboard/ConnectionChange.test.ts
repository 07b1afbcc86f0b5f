import { describe, expect, test } from "bun:test"
import type { Connection } from "../../src/dashboard/api/Types.ts"
import { changeBody, changeDraft } from "../../src/dashboard/screens/connections/ConnectionChange.ts"
import { usedFrom } from "../../src/dashboard/screens/connections/UsedFrom.ts"

const connection: Connection = {
  id: `conn_${"a".repeat(24)}`,
  workspaceId: `ws_${"a".repeat(24)}`,
  scope: "workspace",
  provider: "acme/cloud",
  kind: "provider",
  recipeId: "generic-env",
  authMode: "env",
  displayName: "cloud",
  status: "verified",
  envNames: ["CLOUD_TOKEN"],
  fileNames: ["key.json"],
  providerConfig: {},
  moduleInputDefaults: {},
  use: {
    roles: ["owner", "admin"],
    modules: [{ origin: "https://git.example.com/team/", path: "modules/app" }],
    refs: ["main"]
  },
  version: 1,
  expiresAt: "2999-01-31T23:59:59.000Z",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z"
}
const draft = changeDraft(connection)

describe("Connection changes", () => {
  test("a change to a Connection sends only changed fields", () => {
    expect(changeBody(connection, draft)).toEqual({})
  })

  test("a change to any part of a Connection's rule sends the entire rule", () => {
    expect(changeBody(connection, { ...draft, from: "member", refs: "main\n release \n" })).toEqual({
      use: {
        roles: ["owner", "admin", "member"],
        modules: [{ origin: "https://git.example.com/team/", path: "modules/app" }],
        refs: ["main", "release"]
      }
    })
    expect(changeBody(connection, { ...draft, refs: "", modules: "" })).toEqual({ use: { roles: ["owner", "admin"] } })
  })

  test("a change to a Connection sends only values that were entered, and null to remove an expiry", () => {
    const typed = { values: { CLOUD_TOKEN: "new" }, files: { "key.json": "" } }
    expect(changeBody(connection, { ...draft, ...typed, expiresOn: "" })).toEqual({
      expiresAt: null,
      values: { CLOUD_TOKEN: "new" }
    })
    expect(changeBody(connection, { ...draft, files: { "key.json": "{}" } })).toEqual({
      files: [{ name: "key.json", content: "{}" }]
    })
  })

  test("a Connection's rule is shown as the lowest role it admits", () => {
    expect(usedFrom({ roles: ["owner"] })).toBe("owner")
    expect(usedFrom({ roles: ["admin"] })).toBe("admin")
    expect(usedFrom({ roles: ["member", "owner"] })).toBe("member")
  })
})
