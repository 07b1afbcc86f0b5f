// Migrates the template database, which the tests of `npm run test:postgres` copy.
import { NodeRuntime } from "@effect/platform-node"
import { makeTemplate } from "./PostgresTests.ts"

NodeRuntime.runMain(makeTemplate)
