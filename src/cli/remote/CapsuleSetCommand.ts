import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { variableFlags, variablePatch } from "../variables/VariableFlags.ts"
import { capsuleArgument } from "./CapsuleArgument.ts"
import { planFlags, planned } from "./PlanCommands.ts"
import { onServer } from "./Remote.ts"
import { idempotencyKeyFlag, keyHeaders, workspaceFlags } from "./RemoteFlags.ts"
import { rowsText } from "./Rows.ts"
import { capsuleNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

const configurationOf = Effect.fnUntraced(function* (capsuleConfigId: string) {
  const { capsules } = yield* SvcClient
  return (yield* capsules.config({ params: { capsuleConfigId } })).capsuleConfig
})

export const capsuleSetCommand = Command.make(
  "set",
  {
    ...planFlags,
    ...variableFlags,
    idempotencyKey: idempotencyKeyFlag,
    guard: Flag.optional(
      Flag.String("guard").pipe(
        Flag.withDescription(
          "Guard of the configuration that you read, from `svc capsule get --json`; a repetition with a key needs it. Else read now"
        ),
        Flag.withMetavar("guard")
      )
    ),
    capsule: capsuleArgument
  },
  Effect.fn("capsule set")((given) =>
    Effect.gen(function* () {
      const { capsules } = yield* SvcClient
      const capsule = yield* capsuleNamed(given.capsule, given.workspace)
      const { variables: declared } = yield* configurationOf(capsule.installConfigId)
      const patch = yield* variablePatch(given, declared)
      const headers = yield* keyHeaders(given.idempotencyKey)
      const { run } = yield* capsules.configurationPlan({
        params: { capsuleId: capsule.id },
        headers,
        payload: {
          variablePatch: patch,
          // Makes the server refuse the change if somebody else has changed the configuration since it was read.
          expected: {
            authorityGuard: Option.getOrElse(given.guard, () => capsule.installConfigReAdoption.authorityGuard)
          }
        }
      })
      yield* planned(run, given)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Change the inputs of a Capsule, up to a plan that waits for approval"),
  Command.withExamples([
    { command: "svc capsule set network --var region=south", description: "One value" },
    {
      command: "svc capsule set network --var-file values.tfvars",
      description: "The values of a file, as the tool reads it"
    },
    {
      command: "svc capsule set network --var region=- < region.txt",
      description: "A value that no other user of the machine may see"
    },
    { command: "svc capsule set network --unset suffix", description: "Back to the default of the module" }
  ])
)

export const capsuleVariablesCommand = Command.make(
  "variables",
  { ...workspaceFlags, capsule: capsuleArgument },
  Effect.fn("capsule variables")((given) =>
    Effect.gen(function* () {
      const { installConfigId, name } = yield* capsuleNamed(given.capsule, given.workspace)
      const { variables } = yield* configurationOf(installConfigId)
      yield* print(
        given.json,
        { variables },
        variables.length === 0
          ? `The module of ${terminalText(name)} declares no variable.`
          : rowsText(
              ["name", "type", "required", "set", "from", "notes"],
              variables.map((one) => [
                terminalText(one.name),
                terminalText(one.typeExpression ?? one.type),
                one.required ? "yes" : "no",
                one.set ? "yes" : "no",
                one.origin.replaceAll("_", " "),
                one.sensitive ? "sensitive" : ""
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the inputs of a Capsule and where each value comes from; values are never shown"),
  Command.withExamples([
    { command: "svc capsule variables network", description: "The names that `svc capsule set` takes" }
  ])
)
