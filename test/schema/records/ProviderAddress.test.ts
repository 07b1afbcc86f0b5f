import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { Schema } from "effect"
import { CreateConnection } from "../../../schema/api/ConnectionsApi.ts"
import { ProviderBinding, requirementKey } from "../../../schema/records/Provider.ts"
import { providerAddressSpelling } from "../../../schema/tables/ConnectionTables.ts"

const connectionId = `conn_${"0".repeat(16)}`

test.each([
  ["hashicorp/aws", "hashicorp/aws"],
  ["registry.opentofu.org/hashicorp/aws", "hashicorp/aws"],
  ["registry.terraform.io/hashicorp/aws", "hashicorp/aws"],
  ["Registry.Terraform.IO/HashiCorp/AWS", "hashicorp/aws"],
  ["registry.acme.example/acme/dns", "registry.acme.example/acme/dns"],
  ["registry.opentofu.org.evil.example/acme/dns", "registry.opentofu.org.evil.example/acme/dns"],
  ["git", "git"]
])("the provider address %s is %s in every place", (given, normal) => {
  const binding = Schema.decodeUnknownSync(ProviderBinding)({ provider: given, moduleLocalName: "a", connectionId })
  // The scan must normalise the provider in the same way; otherwise the two addresses would not match.
  expect(requirementKey(binding)).toBe(requirementKey({ provider: normal, moduleLocalName: "a" }))
  const connection = Schema.decodeUnknownSync(CreateConnection)({
    workspaceId: `ws_${"0".repeat(16)}`,
    provider: given,
    displayName: "A"
  })
  expect(connection.provider).toBe(normal)
})

test("all spellings of a stored provider address are normalised to the same form", () => {
  const database = new Database(":memory:")
  database.run("CREATE TABLE connections (provider TEXT NOT NULL)")
  const written = [
    "registry.opentofu.org/hashicorp/aws",
    "Registry.Terraform.io/Acme/X",
    "hashicorp/google",
    "git",
    "*"
  ]
  for (const provider of written) database.run("INSERT INTO connections (provider) VALUES (?)", [provider])
  for (const statement of providerAddressSpelling) database.run(statement)
  expect(database.query("SELECT provider FROM connections").values().flat()).toEqual([
    "hashicorp/aws",
    "acme/x",
    "hashicorp/google",
    "git",
    "*"
  ])
  database.close()
})
