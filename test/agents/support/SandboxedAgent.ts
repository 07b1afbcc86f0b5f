// The product's agent, with sandboxes that also expose the demo provider's interpreter and the files of its simulated cloud.
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Schema } from "effect"
import { defaultSandboxSettings, SandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { agentSvc } from "../../../src/cli/agent/AgentRoot.ts"
import { commandLine, teardown } from "../../../src/cli/CommandLine.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { CrashEnvironment } from "../../crash/CrashEnvironment.ts"

const { levels, readable, writable } = Schema.decodeUnknownSync(CrashEnvironment)(process.env["SVC_TEST_CRASH"] ?? "{}")
const args = process.argv.slice(2)

NodeRuntime.runMain(
  commandLine(agentSvc)(args).pipe(
    Effect.provide(platform),
    Effect.provideService(SandboxSettings, {
      ...defaultSandboxSettings,
      ...(levels === undefined ? {} : { levels }),
      extraReadOnly: readable ?? [],
      extraWritable: writable ?? []
    })
  ),
  { disableErrorReporting: true, teardown: teardown(args) }
)
