import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"

/** A collection of names. Their values are not needed here. */
interface Names {
  readonly has: (name: string) => boolean
}

/** The inputs that each source can fill. Excludes values that svc itself generates. */
export interface InputGivers {
  readonly dependencies: Names
  readonly values: Names
  /** The inputs for which bound Connections provide a default. */
  readonly connections: Names
}

export type InputSource =
  | "dependency"
  | "value"
  | "capsule_name"
  | "workspace_scoped_capsule_name"
  | "connection"
  /** No source sets a value, but the module has a default. */
  | "module"
  | "missing"

/** Returns the first source that provides a value for the input. Does not apply to inputs that the host delivers. */
export const inputSource = (variable: DeclaredVariable, givers: InputGivers): InputSource => {
  const { name, origin, required } = variable
  // Operator values override dependencies and people's values.
  if (origin === "operator") return "value"
  if (givers.dependencies.has(name)) return "dependency"
  if (givers.values.has(name)) return "value"
  if (origin === "capsule_name" || origin === "workspace_scoped_capsule_name") return origin
  if (givers.connections.has(name)) return "connection"
  return required ? "missing" : "module"
}
