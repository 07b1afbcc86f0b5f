import { Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { AccountToken } from "../../../schema/records/AccountToken.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print, printSecret } from "../Output.ts"
import { onServer, Remote } from "../remote/Remote.ts"
import { serverFlags, workspaceFlags } from "../remote/RemoteFlags.ts"
import { rowsText, timeText } from "../remote/Rows.ts"
import { nameTaken, onlyNamed, workspaceNamed } from "../remote/Selection.ts"
import { allPages } from "../remote/Pages.ts"
import { terminalText } from "../remote/TerminalText.ts"
import { asPerson, sessionFlags } from "../session/PersonSession.ts"
import { anyNumber, comingTimeFlag } from "../ValueFlags.ts"

const tokens = Effect.gen(function* () {
  const { accountTokens } = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(accountTokens.list({ query }), ({ next_cursor: nextCursor, tokens: items }) => ({ items, nextCursor }))
  )
})

const statusOf = ({ revoked_at }: AccountToken) => (revoked_at === null ? "active" : "revoked")

const listCommand = Command.make(
  "list",
  { ...serverFlags, ...sessionFlags },
  Effect.fn("token list")((given) =>
    Effect.gen(function* () {
      const all = yield* asPerson(given)(tokens)
      yield* print(
        given.json,
        { tokens: all },
        all.length === 0
          ? "You have no personal access token. Make one with `svc token create`."
          : rowsText(
              ["name", "begins", "scopes", "status", "expires", "used", "id"],
              all.map((one) => [
                terminalText(one.name),
                one.prefix,
                one.scopes.join(","),
                statusOf(one),
                timeText(one.expires_at ?? undefined) ?? "never",
                timeText(one.last_used_at ?? undefined) ?? "never",
                one.token_id
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List your personal access tokens; prompts for your password"), Command.withAlias("ls"))

const createCommand = Command.make(
  "create",
  {
    ...workspaceFlags,
    ...sessionFlags,
    scope: Flag.String("scope").pipe(
      Flag.withDescription("Scope: read, write, ...; may be repeated; default: read"),
      anyNumber
    ),
    bound: Flag.Boolean("bound").pipe(
      Flag.withDescription("Only for the Workspace given by --workspace, or the selected Workspace"),
      Flag.withDefault(false)
    ),
    expires: Flag.optional(
      comingTimeFlag("expires-at").pipe(Flag.withDescription("Expiry: 30d, or a date such as 2027-01-31"))
    ),
    name: Argument.String("name").pipe(Argument.withDescription("Purpose of the token"))
  },
  Effect.fn("token create")((given) =>
    Effect.gen(function* () {
      const workspace = given.bound ? { workspace_id: (yield* workspaceNamed(given.workspace)).id } : {}
      const expires = Option.match(given.expires, { onNone: () => ({}), onSome: (at) => ({ expires_at: at }) })
      const scopes = given.scope.length === 0 ? ["read"] : given.scope
      const isTaken = ({ name, revoked_at }: AccountToken) => name === given.name && revoked_at === null
      yield* asPerson(given)(
        Effect.gen(function* () {
          const { accountTokens } = yield* SvcClient
          const taken = (yield* tokens).find(isTaken)
          if (taken !== undefined) return yield* nameTaken("an active token", given.name, taken.token_id)
          const made = yield* accountTokens.create({ payload: { name: given.name, scopes, ...workspace, ...expires } })
          const revoke = accountTokens.revoke({ params: { tokenId: made.token_record.token_id } })
          // Print only the token, so that a script can store the output.
          yield* printSecret(print(given.json, made, made.token), "token", revoke)
        })
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Create a personal access token and print it once; prompts for your password"),
  Command.withExamples([
    {
      command: "svc token create ci --scope read --scope write --bound --password-stdin < password.txt",
      description: "For a pipeline, in one Workspace"
    }
  ])
)

const revokeCommand = Command.make(
  "revoke",
  {
    ...serverFlags,
    ...sessionFlags,
    token: Argument.String("token").pipe(Argument.withDescription("Name of the token, or its id"))
  },
  Effect.fn("token revoke")((given) =>
    Effect.gen(function* () {
      const revoked = yield* asPerson(given)(
        Effect.gen(function* () {
          const { accountTokens } = yield* SvcClient
          const open = (yield* tokens)
            .filter(({ revoked_at }) => revoked_at === null)
            .map((one) => ({ ...one, id: one.token_id }))
          const words = { what: "active token", several: "tokens", list: "svc token list" }
          const { id } =
            open.find((one) => one.id === given.token) ??
            (yield* onlyNamed(open, ({ name }) => name, given.token, words))
          return yield* accountTokens.revoke({ params: { tokenId: id } })
        })
      )
      yield* print(given.json, revoked, `${terminalText(revoked.token_record.name)} is refused from now on.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Revoke a personal access token; prompts for your password"),
  Command.withExamples([
    {
      command: "svc token revoke ci --password-stdin < password.txt",
      description: "Requests with the token are refused immediately"
    }
  ])
)

export const tokenCommand = Command.make(
  "token",
  // This command takes no arguments, so that a mistyped subcommand fails instead of printing a secret.
  serverFlags,
  Effect.fn("token")((given) =>
    Effect.gen(function* () {
      const { origin, token } = yield* Remote
      const secret = Redacted.value(token)
      yield* print(given.json, { server: origin, token: secret }, secret)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Print an access token of the login, for scripts: Authorization: Bearer $(svc token)"),
  Command.withSubcommands([listCommand, createCommand, revokeCommand])
)
