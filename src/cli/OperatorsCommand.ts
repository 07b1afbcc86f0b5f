import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import type { OperatorList } from "../operator/GrantCommands.ts"
import { OperatorGrants } from "../operator/Operator.ts"
import type { Settings } from "../settings/Settings.ts"
import { jsonFlag, print } from "./Output.ts"
import { dataFlags, settingsOf } from "./SettingFlags.ts"

const formatted = (operators: OperatorList): string =>
  operators.length === 0
    ? "Nobody operates this installation over HTTP."
    : operators
        .map(({ email, status, subject }) => `${subject}  ${email}${status === "active" ? "" : `  ${status}`}`)
        .join("\n")

const withGrants = <A, E>(settings: Settings, use: (grants: OperatorGrants["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(OperatorGrants, use).pipe(Effect.provide(OperatorGrants.layer(settings)))

const listCommand = Command.make(
  "list",
  { ...dataFlags, json: jsonFlag },
  Effect.fn("operators.list")(function* ({ config, json, ...flags }) {
    const operators = yield* withGrants(yield* settingsOf(flags, config), ({ list }) => list)
    yield* print(json, { operators }, formatted(operators))
  })
).pipe(Command.withDescription("List the people who may use the operator's routes"))

const decision = (word: "grant" | "revoke", description: string) =>
  Command.make(
    word,
    {
      ...dataFlags,
      account: Argument.String("account").pipe(Argument.withDescription("usr_..., or the account's e-mail address")),
      json: jsonFlag
    },
    Effect.fn(`operators.${word}`)(function* ({ account, config, json, ...flags }) {
      const operators = yield* withGrants(yield* settingsOf(flags, config), (grants) => grants[word](account))
      yield* print(json, { operators }, formatted(operators))
    })
  ).pipe(Command.withDescription(description))

/** Manages the installation's operators. Anybody with access to the data folder is always an operator. */
export const operatorsCommand = Command.make("operators").pipe(
  Command.withDescription("People who operate the installation over HTTP, regardless of their Workspace roles"),
  Command.withSubcommands([
    listCommand,
    decision("grant", "Make an account an operator"),
    decision("revoke", "Revoke it, from the account's next request on")
  ])
)
