import { Config, Effect, FileSystem, Layer, Option, Redacted } from "effect"
import { checkConnection } from "../../actors/inputs/connection/ConnectionRules.ts"
import type { OAuthHelperDeclaration } from "../../actors/inputs/connection/OAuthHelperDeclaration.ts"
import { credentialRecipes, genericRecipeId } from "../../actors/inputs/connection/CredentialRecipes.ts"
import { type DeclaredHelper, OAuthHelpers } from "../../actors/inputs/connection/OAuthHelpers.ts"
import { defaultGitPolicy } from "../../runner/git/GitPolicy.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"

/** Sample access token that is used to check a declaration. */
const sample = "an-access-token-of-forty-characters-0000"

const refuse = (id: string, problem: string) =>
  new SettingsRefused({ message: `The OAuth helper ${id} of the policy file cannot be used. ${problem}` })

/**
 * Reads the client's secret. The secret is never in the policy file itself, because people share that file and commit it to
 * repositories.
 */
const clientSecret = Effect.fnUntraced(function* ({ client, id }: OAuthHelperDeclaration) {
  if (client.secretEnv !== undefined) {
    const name = client.secretEnv
    const text = yield* Config.String(name).pipe(
      Config.option,
      Effect.orElseSucceed(() => Option.none())
    )
    if (Option.isNone(text) || text.value === "") return yield* refuse(id, `client.secretEnv: ${name} is not set.`)
    return Redacted.make(text.value)
  }
  if (client.secretFile === undefined) return undefined
  const files = yield* FileSystem.FileSystem
  const unreadable = refuse(id, "client.secretFile: the file cannot be read, or is empty.")
  const text = (yield* Effect.mapError(files.readFileString(client.secretFile), () => unreadable)).trim()
  return text === "" ? yield* unreadable : Redacted.make(text)
})

const declared = Effect.fnUntraced(function* (
  declaration: OAuthHelperDeclaration,
  allowOrigins: ReadonlyArray<string>
): Effect.fn.Return<DeclaredHelper, SettingsRefused, FileSystem.FileSystem> {
  const { client, connection, displayName, endpoints, id, issuer, scopes } = declaration
  for (const address of [issuer, ...(endpoints === undefined ? [] : [endpoints.authorization, endpoints.token])]) {
    const { origin, protocol } = new URL(address)
    if (protocol !== "https:" && !allowOrigins.includes(origin)) {
      return yield* refuse(id, `${origin} is plain http: use https, or allow the origin (SVC_GIT_ALLOW_ORIGINS).`)
    }
  }
  const recipe = credentialRecipes.find(({ id: known }) => known === (connection.recipeId ?? genericRecipeId))
  const kind = connection.kind ?? "provider"
  const values = { ...connection.values, [connection.accessToken]: sample }
  yield* checkConnection({ ...connection, kind, values }, { ...defaultGitPolicy, allowOrigins }).pipe(
    Effect.mapError(({ message }) => refuse(id, `connection: ${message}`))
  )
  const { origins } = connection
  return {
    helper: {
      id,
      displayName,
      issuer,
      scopes,
      provider: connection.provider,
      kind,
      recipeId: recipe?.id ?? genericRecipeId,
      authMode: connection.authMode ?? recipe?.authModes[0]?.id ?? "env",
      valueNames: Object.keys(values).sort(),
      ...(origins === undefined ? {} : { origins })
    },
    server: {
      issuer,
      metadata: declaration.metadata ?? "oauth2",
      endpoints: endpoints === undefined ? undefined : { ...endpoints, namesItself: endpoints.issInResponse ?? false },
      pkce: declaration.pkce ?? "advertised",
      clientId: client.id,
      clientSecret: yield* clientSecret(declaration),
      secretMethod: client.authentication
    },
    parameters: declaration.parameters ?? {},
    accessTokenName: connection.accessToken,
    values: connection.values ?? {}
  }
})

/** Builds the OAuth helpers that the policy file declares. Fails with `SettingsRefused` if a helper cannot work. */
export const oauthHelpers = Effect.fn("oauthHelpers")(function* (
  declarations: ReadonlyArray<OAuthHelperDeclaration>,
  allowOrigins: ReadonlyArray<string>
) {
  const helpers = yield* Effect.forEach(declarations, (declaration) => declared(declaration, allowOrigins))
  return Layer.succeed(OAuthHelpers, helpers)
})
