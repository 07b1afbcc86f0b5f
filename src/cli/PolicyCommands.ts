import { Effect, FileSystem } from "effect"
import { Argument, Command } from "effect/cli"
import { judgePolicy, policyFileLimits } from "../composition/OperatorPolicyFile.ts"
import { OperatorPolicies } from "../operator/Operator.ts"
import { CommandFailed, jsonFlag, misuse, print, refused } from "./Output.ts"
import { dataFlags, settingsOf } from "./SettingFlags.ts"

const readFile = Effect.fn("readPolicyFile")(
  function* (file: string) {
    const files = yield* FileSystem.FileSystem
    const { size } = yield* files.stat(file)
    if (size > policyFileLimits.maxBytes) {
      return yield* new CommandFailed({
        ...misuse,
        message: `${file} is larger than ${policyFileLimits.maxBytes} bytes, and no policy file is.`
      })
    }
    return yield* files.readFile(file)
  },
  (effect, file) =>
    Effect.catchTag(effect, "PlatformError", () => new CommandFailed({ ...misuse, message: `${file} cannot be read.` }))
)

const counted = (count: number, one: string, more = `${one}s`) => `${count} ${count === 1 ? one : more}`

const check = Command.make(
  "check",
  {
    file: Argument.File("file").pipe(
      Argument.withDescription("Policy file, as for SVC_POLICY_FILE"),
      Argument.withMetavar("path")
    ),
    json: jsonFlag
  },
  Effect.fn("policyCheck")(function* ({ file, json }) {
    const { faults, policy } = yield* judgePolicy(yield* readFile(file))
    if (policy === undefined) {
      const head = "The policy file is invalid."
      const lines = faults.map(({ message, path }) => `${path === "" ? "(root)" : path}: ${message}`)
      yield* print(json, { status: "invalid", faults }, [head, ...lines].join("\n"))
      return yield* refused(head)
    }
    const profiles = Object.keys(policy.profiles ?? {})
    const { baseConfigs = [], endpoints = [], prices } = policy
    const parts = {
      profiles,
      baseConfigs: baseConfigs.length,
      endpoints: endpoints.length,
      prices: prices?.items.length ?? 0
    }
    const text = [
      "The policy file is valid.",
      `${counted(profiles.length, "profile")}${profiles.length === 0 ? "" : ` (${profiles.join(", ")})`}, ${counted(baseConfigs.length, "base configuration")}, ${counted(endpoints.length, "endpoint")}, ${counted(parts.prices, "price")}.`,
      "A running server takes it with `svc admin reload`; it also reads it when it starts."
    ]
    yield* print(json, { status: "valid", ...parts }, text.join("\n"))
  })
).pipe(
  Command.withDescription(
    "Check a policy file and report its faults; exits with 1 if it is invalid. Changes nothing, and contacts no server"
  ),
  Command.withExamples([
    { command: "svc policy check /etc/svc/policy.json", description: "Before the file is installed" },
    { command: "svc policy check --json policy.json", description: "For a program, as one JSON value" }
  ])
)

/** Commands for the operator's policy file, which contains profiles, base configurations, ceilings, endpoints and prices. */
export const policyCommand = Command.make("policy").pipe(
  Command.withDescription("The operator's policy file (SVC_POLICY_FILE)"),
  Command.withSubcommands([check])
)

/** Makes the running server reload its policy file and its OpenID clients file. */
export const reloadCommand = Command.make(
  "reload",
  { ...dataFlags, json: jsonFlag },
  Effect.fn("adminReload")(function* ({ config, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const reloaded = yield* Effect.flatMap(OperatorPolicies, ({ reload }) => reload).pipe(
      Effect.provide(OperatorPolicies.layer(settings))
    )
    const { changed, clients, digest, supersededPlans } = reloaded
    const policy =
      changed.length === 0
        ? digest === "none"
          ? "The server has no policy file."
          : `The policy file is unchanged (${digest}).`
        : `The policy is in force: ${changed.join(", ")} changed (${digest}). ${counted(supersededPlans, "waiting plan was", "waiting plans were")} superseded.`
    const registered =
      clients.changed.length === 0
        ? []
        : [
            `OpenID clients in force: ${clients.changed.join(", ")} changed. ${counted(clients.endedGrants, "grant", "grants")} ended with removed clients or redirect addresses.`
          ]
    yield* print(json, reloaded, [policy, ...registered].join("\n"))
  })
).pipe(
  Command.withDescription(
    "Make the running server reload its policy file and its file of OpenID clients, both or neither. Running Runs continue with their original policy; waiting plans that were made under another profile or base configuration are superseded. Codes and refresh tokens of removed clients and redirect addresses end. An invalid file changes nothing."
  )
)
