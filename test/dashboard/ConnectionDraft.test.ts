import { describe, expect, test } from "bun:test"
import { credentialRecipes } from "../../actors/inputs/connection/CredentialRecipes.ts"
import { CreateConnection } from "../../schema/api/ConnectionsApi.ts"
import {
  type ConnectionDraft,
  connectionBody,
  hasOrigins,
  likelyOrigin,
  offeredBy
} from "../../src/dashboard/screens/connections/ConnectionDraft.ts"
import { Schema } from "effect"

const generic = credentialRecipes.find(({ id }) => id === "generic-env")
const aws = credentialRecipes.find(({ id }) => id === "aws-access-key")
const mode = generic?.authModes[0]
if (generic === undefined || aws === undefined || mode === undefined) throw new Error("A recipe is gone")

const draft: ConnectionDraft = {
  recipe: generic,
  mode,
  provider: " hashicorp/aws ",
  displayName: " production ",
  values: {},
  files: {},
  free: [{ id: 1, name: "AWS_PROFILE", value: "typed before" }],
  expiresOn: "2030-01-31",
  origins: ""
}
const decode = Schema.decodeUnknownSync(CreateConnection, { onExcessProperty: "error" })
const workspaceId = "ws_00000000000000000000000000000000"

describe("New Connections", () => {
  test("a new Connection that uses a pool's values sends no values entered earlier", () => {
    const [providedBy] = offeredBy(generic, [{ name: "eu-west", provided: ["aws"] }])
    const body = connectionBody(workspaceId, { ...draft, providedBy })
    expect(body).toEqual({
      workspaceId,
      provider: "hashicorp/aws",
      displayName: "production",
      providedBy: { pool: "eu-west", name: "aws" },
      expiresAt: "2030-01-31T23:59:59.000Z"
    })
    expect(String(decode(body).providedBy?.name)).toBe("aws")
  })

  test("a new Connection that uses no pool sends its entered values", () => {
    expect(connectionBody(workspaceId, draft)).toMatchObject({ values: { AWS_PROFILE: "typed before" }, files: [] })
  })

  test("a new forge Connection sends the address of the forge's website, and the App's key as a file", () => {
    const recipe = credentialRecipes.find(({ id }) => id === "forge-github")
    const app = recipe?.authModes.find(({ id }) => id === "app")
    if (recipe === undefined || app === undefined) throw new Error("The recipe is gone")
    expect([hasOrigins(recipe), hasOrigins(generic), likelyOrigin(recipe), likelyOrigin(generic)]).toEqual([
      true,
      false,
      "https://github.com",
      ""
    ])
    const body = connectionBody(workspaceId, {
      ...draft,
      recipe,
      mode: app,
      values: { app_id: "12345", installation_id: "678" },
      files: { "private-key.pem": "a key" },
      origins: likelyOrigin(recipe)
    })
    expect(body).toMatchObject({
      provider: "github",
      kind: "forge",
      authMode: "app",
      origins: ["https://github.com"],
      values: { app_id: "12345", installation_id: "678" },
      files: [{ name: "private-key.pem", content: "a key" }]
    })
    expect(decode(body).kind).toBe("forge")
  })

  test("a new Connection can use only allowed pools, and no recipe that requires values", () => {
    const pools = [{ name: "eu-west", provided: ["aws", "google"] }, { name: "us-east" }]
    expect(offeredBy(generic, pools)).toEqual([
      { pool: "eu-west", name: "aws" },
      { pool: "eu-west", name: "google" }
    ])
    expect(offeredBy(aws, pools)).toEqual([])
  })
})
