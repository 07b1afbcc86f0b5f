import { Effect, Redacted, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { credentialFileNameProblem } from "../../../runner/execution/CredentialFileName.ts"
import { environmentNameProblem } from "../../../runner/execution/EnvironmentNames.ts"
import type { GitPolicyShape } from "../../../runner/git/GitPolicy.ts"
import { holdsRedactionSentinel, isRedactionSentinel } from "../../../runner/redaction/RedactionMark.ts"
import { budgetProblem } from "../../../runner/redaction/SecretBudget.ts"
import { hidingProblem } from "../../../runner/redaction/SecretRule.ts"
import type { CreateConnection } from "../../../schema/api/ConnectionsApi.ts"
import { type ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { ConnectionKind } from "../../../schema/records/Connection.ts"
import type { ConnectionUse } from "../../../schema/records/ConnectionUse.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { now } from "../../base/Identity.ts"
import { holdsRoundedNumber } from "../../ledger/configuration/VariableRules.ts"
import { originsProblem } from "./ConnectionOrigins.ts"
import { credentialRecipes, genericRecipeId, isForgeRecipe } from "./CredentialRecipes.ts"
import { poolCredentialsProblem } from "./PoolCredentials.ts"

const credentialShaped =
  /(?:^|[_-])(?:token|secret|password|passwd|passphrase|private[_-]?key|access[_-]?key|api[_-]?key|credentials?|client[_-]?secret)(?:$|[_-])/i
const keyMaterial =
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----|^[a-z][a-z0-9+.-]{0,30}:\/\/[^/\s:@]{1,256}:[^/\s@]{1,256}@/i

/** Returns the path of the first value that looks like a credential, in a map that must not contain secrets. */
const credentialIn = (path: string, value: Schema.Json): string | undefined => {
  if (typeof value === "string") return keyMaterial.test(value) ? path : undefined
  if (typeof value !== "object" || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const inner = `${path}.${key}`
    if (!Array.isArray(value) && credentialShaped.test(key)) return inner
    const found = credentialIn(inner, member)
    if (found !== undefined) return found
  }
  return undefined
}

/** Fields that are checked when a Connection is created, and when an existing one gets new values. */
type CheckedConnection = Omit<CreateConnection, "workspaceId" | "displayName" | "expiresAt" | "use">

/**
 * Returns the reason why the use rule does not fit this kind. Git Connections have no Project rule, because a Source does
 * not belong to a Project. Instead, their origins limit where they can be used.
 */
const useProblem = (kind: ConnectionKind, use: ConnectionUse | undefined): string | undefined => {
  if (kind === "provider" || use === undefined) return undefined
  if (kind === "forge") {
    const limited = use.projectIds ?? use.modules ?? use.refs
    return limited === undefined
      ? undefined
      : "use: a forge Connection serves the Sources that name it; no Run gets it."
  }
  if (use.projectIds !== undefined)
    return "use.projectIds: a Git Connection serves Sources, which belong to no Project."
  if (use.modules !== undefined) return "use.modules: a Git Connection is fetched with before any module is known."
  return undefined
}

const recipeProblem = (request: CheckedConnection): string | undefined => {
  const id = request.recipeId ?? defaultRecipeId(request)
  const recipe = credentialRecipes.find((candidate) => candidate.id === id)
  if (recipe === undefined) return "recipeId: no such recipe; see GET /api/v1/credential-recipes."
  if (isForgeRecipe(recipe) !== (request.kind === "forge")) {
    return request.kind === "forge"
      ? "provider: expected github, gitlab or forgejo for a Connection of kind forge."
      : "recipeId: this recipe is for a Connection of kind forge."
  }
  if (recipe.provider !== "*" && recipe.provider !== "git" && recipe.provider !== request.provider) {
    return `recipeId: this recipe is for ${recipe.provider}.`
  }
  const mode =
    request.authMode === undefined ? recipe.authModes[0] : recipe.authModes.find((one) => one.id === request.authMode)
  if (mode === undefined) return `authMode: expected one of ${recipe.authModes.map((one) => one.id).join(", ")}.`
  const missing = mode.values.find((value) => value.required && request.values?.[value.name] === undefined)
  if (missing !== undefined) return `values.${missing.name}: required by this recipe.`
  const missingFile = mode.files.find(
    (file) => file.required && !request.files?.some((given) => given.name === file.name)
  )
  if (missingFile !== undefined) return `files: the file ${missingFile.name} is required by this recipe.`
  const given = Object.keys(request.values ?? {}).length + (request.files?.length ?? 0)
  if (mode.id === "none" ? given > 0 : given === 0) {
    return mode.id === "none"
      ? "values: authMode `none` takes no values and no files."
      : "values: give at least one value or file, or authMode `none` for a provider that needs no credentials."
  }
  return undefined
}

const valuesProblem = (request: CheckedConnection): string | undefined => {
  const kind = request.kind ?? "provider"
  for (const [name, value] of Object.entries(request.values ?? {})) {
    const problem = kind === "provider" ? environmentNameProblem(name) : undefined
    if (problem !== undefined) return `values.${name}: ${problem}.`
    if (value === "") return `values.${name}: must not be empty.`
    if (isRedactionSentinel(value)) return `values.${name}: holds the redaction mark; give the real value.`
    const unhidden = hidingProblem(value)
    if (unhidden !== undefined) return `values.${name}: ${unhidden}.`
  }
  if (kind.startsWith("git_") && request.values?.["token"] === undefined)
    return "values.token: required for a Git Connection."
  return undefined
}

const filesProblem = (request: CheckedConnection): string | undefined => {
  const names = new Set<string>()
  for (const [index, file] of (request.files ?? []).entries()) {
    const problem = credentialFileNameProblem(file.name)
    if (problem !== undefined) return `files[${index}].name: ${problem}.`
    if (names.has(file.name)) return `files[${index}].name: given twice.`
    names.add(file.name)
    if (isRedactionSentinel(file.content))
      return `files[${index}].content: holds the redaction mark; give the real file.`
    const unhidden = hidingProblem(file.content)
    if (unhidden !== undefined) return `files[${index}].content: ${unhidden}.`
    const envProblem = file.envName === undefined ? undefined : environmentNameProblem(file.envName)
    if (envProblem !== undefined) return `files[${index}].envName: ${envProblem}.`
    if (file.envName !== undefined && Object.hasOwn(request.values ?? {}, file.envName)) {
      return `files[${index}].envName: ${file.envName} is given as a value too.`
    }
  }
  return undefined
}

const metadataProblem = (request: CheckedConnection): string | undefined => {
  for (const field of ["providerConfig", "moduleInputDefaults"] as const) {
    const found = credentialIn(field, request[field] ?? {})
    if (found !== undefined) return `${found}: looks like a credential; credentials go into values or files only.`
    if (holdsRedactionSentinel(request[field] ?? {})) return `${field}: holds the redaction mark.`
    if (holdsRoundedNumber(request[field] ?? {}))
      return `${field}: holds a whole number beyond 9007199254740991, which JSON does not carry exactly; write it as a string of digits.`
  }
  return undefined
}

const sizeProblem = ({ files = [], values = {} }: CheckedConnection): string | undefined => {
  const problem = budgetProblem([
    ...Object.entries(values).map(([name, value]) => ({ origin: name, value: Redacted.make(value) })),
    ...files.map(({ content, name }) => ({ origin: name, value: Redacted.make(content) }))
  ])
  return problem === undefined ? undefined : `values, files: ${problem}.`
}

const credentialsProblem = (request: CheckedConnection) =>
  recipeProblem(request) ?? valuesProblem(request) ?? filesProblem(request) ?? sizeProblem(request)

/** Checks new values of a Connection. Fails with `invalid_request`; the error contains the field but never its value. */
export const checkCredentials = (request: CheckedConnection): Effect.Effect<void, ApiError> => {
  const problem = credentialsProblem(request)
  return problem === undefined ? Effect.void : Effect.fail(invalidRequest(problem))
}

/**
 * Performs checks that the request schema cannot express. Fails with `invalid_request`; the error contains the field but
 * never its value.
 */
export const checkConnection = (request: CheckedConnection, policy: GitPolicyShape): Effect.Effect<void, ApiError> => {
  const problem =
    (request.providedBy === undefined ? credentialsProblem(request) : poolCredentialsProblem(request)) ??
    originsProblem(request.kind ?? "provider", request.origins, policy) ??
    metadataProblem(request)
  return problem === undefined ? Effect.void : Effect.fail(invalidRequest(problem))
}

/** Returns the default recipe of a Connection without a recipe. */
export const defaultRecipeId = ({ kind, provider }: Pick<CreateConnection, "kind" | "provider">): string =>
  (kind === "forge"
    ? credentialRecipes.find((recipe) => isForgeRecipe(recipe) && recipe.provider === provider)
    : undefined
  )?.id ?? genericRecipeId

/** Returns the default authentication mode of a recipe, which is the recipe's first mode. */
export const defaultAuthMode = (recipeId: string): string =>
  credentialRecipes.find(({ id }) => id === recipeId)?.authModes[0]?.id ?? "env"

/** Checks that every Project in the use rule is in the Workspace, and that the rule fits the kind of Connection. */
export const checkUse = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId | null,
  kind: ConnectionKind,
  use: ConnectionUse | undefined
) {
  const problem = useProblem(kind, use)
  if (problem !== undefined) return yield* invalidRequest(problem)
  const sql = yield* SqlClient.SqlClient
  for (const [index, id] of (use?.projectIds ?? []).entries()) {
    const found = yield* Effect.orDie(sql`SELECT id FROM projects WHERE id = ${id} AND workspace_id = ${workspaceId}`)
    if (found.length === 0) return yield* invalidRequest(`use.projectIds[${index}]: the Workspace has no such Project.`)
  }
})

/** Rejects an expiry in the past, which would disable the Connection by mistake. */
export const checkExpiry = Effect.fnUntraced(function* (expiresAt: string | null | undefined) {
  if (expiresAt == null || expiresAt > (yield* now)) return
  return yield* invalidRequest("expiresAt: is not in the future. Revoke the Connection to end it at once.")
})
