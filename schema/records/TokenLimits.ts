import { Schema } from "effect"
import { EnvironmentName } from "./Primitives.ts"
import { ProjectId } from "./Ids.ts"

/**
 * The limits of a personal access token within its Workspace. They are stored as the scopes `project:<id>` and
 * `environment:<name>`, so that code that reads a token record cannot overlook them. An absent list does not limit anything.
 */
export interface TokenLimits {
  readonly projectIds?: ReadonlyArray<ProjectId>
  readonly environments?: ReadonlyArray<string>
}

/** The Project and environment of a record. The environment is absent if the record belongs to several environments. */
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

/** Returns true if the scope restricts the token instead of granting a permission. */
export const isLimit = (scope: string): boolean =>
  scope.startsWith(projectPrefix) || scope.startsWith(environmentPrefix)

/** Returns the limits that the scopes contain, or `undefined` if there are none. An empty list of limits permits nothing. */
export const limitsOf = (scopes: ReadonlyArray<string>): TokenLimits | undefined => {
  const projects = after(projectPrefix, scopes)
  const environments = after(environmentPrefix, scopes)
  if (projects.length === 0 && environments.length === 0) return undefined
  return {
    ...(projects.length === 0 ? {} : { projectIds: projects.filter(isProjectId) }),
    ...(environments.length === 0 ? {} : { environments: environments.filter(isEnvironment) })
  }
}

/** Returns true if every limit is well-formed. */
export const areLimits = (scopes: ReadonlyArray<string>): boolean =>
  after(projectPrefix, scopes).every((id) => isProjectId(id)) &&
  after(environmentPrefix, scopes).every((name) => isEnvironment(name))

/**
 * Returns true if a token with these limits may access a record of this Project and environment. Both must be within the
 * limits.
 */
export const withinLimits = ({ environments, projectIds }: TokenLimits, place: LimitedPlace): boolean =>
  (projectIds === undefined || projectIds.some((id) => id === place.projectId)) &&
  (environments === undefined || environments.some((name) => name === place.environment))
