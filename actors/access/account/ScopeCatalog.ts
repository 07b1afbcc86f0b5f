import { Context } from "effect"
import { invalidRequest, type ApiError } from "../../../schema/errors/ApiError.ts"
import { areLimits, isLimit } from "../../../schema/records/TokenLimits.ts"
import type { AccountTokenScopeCatalog } from "../../../schema/records/AccountToken.ts"

export type ScopeEntry = AccountTokenScopeCatalog["scopes"][number]

const baseScopes: ReadonlyArray<ScopeEntry> = [
  {
    scope: "read",
    label: { ja: "読み取り", en: "Read" },
    description: {
      ja: "メンバーとして見られる情報を読み取ります。",
      en: "Reads what the member can see."
    },
    selfService: true,
    workspaceBinding: "optional"
  },
  {
    scope: "write",
    label: { ja: "書き込み", en: "Write" },
    description: {
      ja: "メンバーの役割が許す変更を行います。",
      en: "Makes the changes that the member's role allows."
    },
    selfService: true,
    workspaceBinding: "optional"
  }
]

/** Scopes that apply only within a Workspace (specification, Accounts personal access tokens, rule 2). */
const workspaceBoundScopes: ReadonlySet<string> = new Set([
  "ai.models.read",
  "ai.chat",
  "ai.embeddings",
  "resources:read"
])

/** An extension scope, as declared in the `selfServicePatScopes` of its route. */
export interface ExtensionScope {
  readonly scope: string
  readonly label: ScopeEntry["label"]
  readonly description: ScopeEntry["description"]
}

/** The extension scopes of the composed routes; none by default. Never includes administrative scopes. */
export const ExtensionScopes = Context.Reference<ReadonlyArray<ExtensionScope>>(
  "svc/actors/access/account/ExtensionScopes",
  {
    defaultValue: () => []
  }
)

const isAdministrative = (scope: string) => /(?:^|[.:])admin(?:$|[.:])/.test(scope)

/** Returns every scope that people may give to their own tokens. */
export const scopeCatalog = (extensions: ReadonlyArray<ExtensionScope>): ReadonlyArray<ScopeEntry> => [
  ...baseScopes,
  ...extensions
    .filter(({ scope }) => !isAdministrative(scope) && !baseScopes.some((base) => base.scope === scope))
    .map(
      (extension): ScopeEntry => ({
        ...extension,
        selfService: true,
        workspaceBinding: workspaceBoundScopes.has(extension.scope) ? "required" : "optional"
      })
    )
]

/** Returns the reason why the scopes of a new token are invalid, or `undefined` if they are valid. */
export const scopeRefusal = (
  catalog: ReadonlyArray<ScopeEntry>,
  scopes: ReadonlyArray<string>,
  bound: boolean
): ApiError | undefined => {
  if (scopes.length === 0) return invalidRequest("scopes: name at least one scope.")
  if (new Set(scopes).size !== scopes.length) return invalidRequest("scopes: each scope may be named once.")
  const granted = scopes.filter((scope) => !isLimit(scope))
  if (granted.length === 0) return invalidRequest("scopes: a limit alone grants nothing. Name read, or write, as well.")
  if (!areLimits(scopes)) return invalidRequest("scopes: a limit is project:<id> or environment:<name>.")
  if (granted.length < scopes.length && !bound) {
    return invalidRequest("scopes: a limit needs a token bound to a Workspace; give workspace_id.")
  }
  for (const scope of granted) {
    const entry = catalog.find((known) => known.scope === scope)
    if (entry === undefined || !entry.selfService) {
      return invalidRequest("scopes: a scope is not in the catalogue of GET /api/v1/account/tokens/scopes.")
    }
    if (entry.workspaceBinding === "required" && !bound) {
      return invalidRequest(`scopes: ${scope} needs a token bound to a Workspace; give workspace_id.`)
    }
  }
  return undefined
}
