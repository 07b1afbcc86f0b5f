import { resolve } from "node:path"
import { Effect, Layer, Option } from "effect"
import { Command } from "effect/cli"
import { agentSandbox, agentTools } from "../../agent/AgentMachine.ts"
import { agentMachineSettings } from "../../agent/AgentSettings.ts"
import { type AnyFinding, formatFindings, isHealthy } from "../doctor/DoctorReport.ts"
import { jsonFlag, print, refused } from "../Output.ts"
import { folderFindings } from "./AgentFolderFindings.ts"
import { dirFlag, folderOf, serverFlag, serverOf } from "./AgentFlags.ts"
import { machineFindings } from "./AgentMachineFindings.ts"
import { networkFindings } from "./AgentNetworkFindings.ts"

/** Checks everything that an agent needs on this machine. Changes nothing. */
export const agentDoctorCommand = Command.make(
  "doctor",
  { server: serverFlag, dir: dirFlag, json: jsonFlag },
  Effect.fn("agent doctor")(function* ({ dir, json, server }) {
    const folder = resolve(yield* folderOf(dir))
    const origin = yield* Effect.option(serverOf(server))
    const settings = yield* agentMachineSettings(folder)
    const machine = yield* machineFindings(folder).pipe(
      Effect.provide(
        Layer.merge(
          agentTools(folder),
          agentSandbox({ ...settings, sandbox: { ...settings.sandbox, ownFolder: undefined } })
        )
      )
    )
    const found: ReadonlyArray<AnyFinding> = [
      ...(yield* networkFindings(Option.getOrUndefined(origin))),
      ...(yield* folderFindings(folder)),
      ...machine
    ]
    const healthy = isHealthy(found)
    yield* print(json, { healthy, findings: found }, formatFindings(found))
    if (!healthy) return yield* refused("This agent or its surroundings need attention.")
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Check address, proxy, certificate authority, key, clock, disk, tool, sandbox, limits and network of an agent, without changes; exits with 1 if a check fails"
  ),
  Command.withExamples([
    {
      command: "svc agent doctor --server https://svc.example.com",
      description: "Before the first start, or if Runs wait"
    }
  ])
)
