import { Schema } from "effect"
import { EnvironmentName } from "./Primitives.ts"
import { ProjectId } from "./Ids.ts"

/**
 * Limits of a personal access token within its Workspace. They are written as scopes, `project:<id>` and `environment:<name>`,
 * because every token record has scopes, so anyone who reads it sees that the token is confined. An absent list imposes no limit.
 */
export interface TokenLimits {
  readonly projectIds?: ReadonlyArray<ProjectId>
  readonly environments?: ReadonlyArray<string>
}

/** The place of a record: a Project, and an environment unless the record spans several. */
export interface LimitedPlace {
  readonly projectId: string
  readonly environment: string | null
}

const projectPrefix = "project:"
const environmentPrefix = "environment:"

const isProjectId = Schema.is(ProjectId)
const isEnvironment = Schema.is(EnvironmentName)

const after = (prefix: string, scopes: ReadonlyArray<string>) =>
  scopes.filter((scope) => scope.startsWith(prefix)).map((scope) => scope.slice(prefix.length))

/** True if a scope confines instead of granting. */
export const isLimit = (scope: string): boolean =>
  scope.startsWith(projectPrefix) || scope.startsWith(environmentPrefix)

/** The limits among the scopes; `undefined` if there are none. An empty limit admits nothing. */
export const limitsOf = (scopes: ReadonlyArray<string>): TokenLimits | undefined => {
  const projects = after(projectPrefix, scopes)
  const environments = after(environmentPrefix, scopes)
  if (projects.length === 0 && environments.length === 0) return undefined
  return {
    ...(projects.length === 0 ? {} : { projectIds: projects.filter(isProjectId) }),
    ...(environments.length === 0 ? {} : { environments: environments.filter(isEnvironment) })
  }
}

/** True if every limit is well-formed. */
export const areLimits = (scopes: ReadonlyArray<string>): boolean =>
  after(projectPrefix, scopes).every((id) => isProjectId(id)) &&
  after(environmentPrefix, scopes).every((name) => isEnvironment(name))

/** True if a token with these limits can reach the place: the limits have to include both the Project and the environment. */
export const withinLimits = ({ environments, projectIds }: TokenLimits, place: LimitedPlace): boolean =>
  (projectIds === undefined || projectIds.some((id) => id === place.projectId)) &&
  (environments === undefined || environments.some((name) => name === place.environment))
