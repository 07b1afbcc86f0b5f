import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"

/** Names only: checking whether a value exists requires nothing else. */
interface Names {
  readonly has: (name: string) => boolean
}

/** Sources of values other than the service, by input. */
export interface InputGivers {
  readonly dependencies: Names
  readonly values: Names
  /** The module input defaults from the bound Connections. */
  readonly connections: Names
}

export type InputSource =
  | "dependency"
  | "value"
  | "capsule_name"
  | "workspace_scoped_capsule_name"
  | "connection"
  /** No value is set, but the module has a default. */
  | "module"
  | "missing"

/** The source of the value for an input that the host does not deliver: the first source that has a value. */
export const inputSource = (variable: DeclaredVariable, givers: InputGivers): InputSource => {
  const { name, origin, required } = variable
  // The operator takes precedence over other Capsules and people.
  if (origin === "operator") return "value"
  if (givers.dependencies.has(name)) return "dependency"
  if (givers.values.has(name)) return "value"
  if (origin === "capsule_name" || origin === "workspace_scoped_capsule_name") return origin
  if (givers.connections.has(name)) return "connection"
  return required ? "missing" : "module"
}
