// Generates the types and the client that the programs use.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createClient } from "@hey-api/openapi-ts"
import openapiTS, { astToString } from "openapi-typescript"

const [, , input, output] = process.argv
const document = () => JSON.parse(readFileSync(input, "utf8"))

mkdirSync(output, { recursive: true })
writeFileSync(`${output}/Paths.ts`, astToString(await openapiTS(document())))
await createClient({
  input: document(),
  output: { path: `${output}/client`, importFileExtension: ".ts" },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
  logs: { level: "warn" }
})
