import { isAddress, readServerAddress } from "../../../../schema/git/ServerAddress.ts"
import type { Body } from "../../api/Declarations.ts"
import type { connectionsCreate } from "../../api/Endpoints.ts"
import type { Connection, CredentialRecipe, WorkspacePool } from "../../api/Types.ts"
import { providerName } from "../../words/Format.ts"

export type AuthMode = CredentialRecipe["authModes"][number]

/** A recipe with this id or provider accepts any names. See the server's list of recipes. */
const anyProvider = "*"
const gitProvider = "git"

export const isGeneric = (recipe: CredentialRecipe): boolean => recipe.provider === anyProvider

/** Returns the recipes for a provider, closest match first. Returns all recipes if no provider is given. */
export const recipesFor = (
  recipes: ReadonlyArray<CredentialRecipe>,
  provider: string | undefined
): ReadonlyArray<CredentialRecipe> => {
  if (provider === undefined) return recipes
  const wanted = providerName(provider)
  const own = recipes.filter((recipe) => providerName(recipe.provider) === wanted)
  return [...own, ...recipes.filter(isGeneric)]
}

export interface FreeVariable {
  readonly id: number
  readonly name: string
  readonly value: string
}

/** A set of credentials that a pool provides under this name. */
export type ProvidedBy = NonNullable<Connection["providedBy"]>

export interface ConnectionDraft {
  readonly recipe: CredentialRecipe
  readonly mode: AuthMode
  readonly provider: string
  readonly displayName: string
  readonly values: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
  readonly free: ReadonlyArray<FreeVariable>
  readonly expiresOn: string
  /** One entry per line. */
  readonly origins: string
  /** Set if the agents of a pool hold the credentials. */
  readonly providedBy?: ProvidedBy | undefined
}

export const isGit = (recipe: CredentialRecipe): boolean => recipe.provider === gitProvider

/**
 * Kinds of forges, with the address of the public forge of each kind. Recipes for forges belong to Connections of kind `forge`.
 */
const forges: Readonly<Record<string, string>> = {
  github: "https://github.com",
  gitlab: "https://gitlab.com",
  forgejo: ""
}

const isForge = (recipe: CredentialRecipe): boolean => Object.hasOwn(forges, recipe.provider)

/** True if the Connection uses a GitHub App. svc can create the App. */
export const isGitHubApp = (recipe: CredentialRecipe, mode: AuthMode): boolean =>
  recipe.provider === "github" && mode.id === "app"

/** Returns the most likely address, or an empty string if no address is likely. */
export const likelyOrigin = (recipe: CredentialRecipe): string => forges[recipe.provider] ?? ""

/** True for Connections that svc sends only to the servers that a person lists. */
export const hasOrigins = (recipe: CredentialRecipe): boolean => isGit(recipe) || isForge(recipe)

/** Returns the server in a partially typed repository URL, or an empty string if the URL cannot be parsed. */
export const serverOf = (url: string): string => {
  const address = readServerAddress(url.trim())
  return isAddress(address) && address.scheme !== "ssh" ? address.origin : ""
}

/** The credential sets that the Workspace's pools offer for a provider without a specific recipe. */
export const offeredBy = (
  recipe: CredentialRecipe,
  pools: ReadonlyArray<Pick<WorkspacePool, "name" | "provided">>
): ReadonlyArray<ProvidedBy> =>
  isGeneric(recipe) ? pools.flatMap(({ name: pool, provided = [] }) => provided.map((name) => ({ pool, name }))) : []

/** The contents of a new Connection. Empty fields are omitted, because the server refuses empty values. */
export const connectionBody = (workspaceId: string, draft: ConnectionDraft): Body<typeof connectionsCreate> => {
  const values = Object.fromEntries(
    [
      ...draft.mode.values.map(({ name }) => [name, draft.values[name] ?? ""] as const),
      ...(isGeneric(draft.recipe) && draft.mode.id !== "none"
        ? draft.free.map(({ name, value }) => [name.trim(), value] as const)
        : [])
    ].filter(([name, value]) => name !== "" && value !== "")
  )
  const files = draft.mode.files.flatMap((file) => {
    const content = draft.files[file.name] ?? ""
    return content === ""
      ? []
      : [{ name: file.name, content, ...(file.envName === undefined ? {} : { envName: file.envName }) }]
  })
  const expiry = draft.expiresOn === "" ? {} : { expiresAt: `${draft.expiresOn}T23:59:59.000Z` }
  const displayName = draft.displayName.trim()
  if (draft.providedBy !== undefined) {
    return { workspaceId, provider: draft.provider.trim(), displayName, providedBy: draft.providedBy, ...expiry }
  }
  return {
    workspaceId,
    provider: isGeneric(draft.recipe) ? draft.provider.trim() : draft.recipe.provider,
    ...(hasOrigins(draft.recipe)
      ? {
          kind: isForge(draft.recipe) ? "forge" : "git_https",
          origins: draft.origins.split(/\s+/).filter((origin) => origin !== "")
        }
      : {}),
    recipeId: draft.recipe.id,
    authMode: draft.mode.id,
    displayName,
    values,
    files,
    ...expiry
  }
}
