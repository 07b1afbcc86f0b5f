import type { DeclaredVariable } from "../../schema/records/InstallConfig.ts"

/** Names alone: whoever only asks whether there is a value needs none. */
interface Names {
  readonly has: (name: string) => boolean
}

/** Who gives values beside the service itself, by the inputs that they give one to. */
export interface InputGivers {
  readonly dependencies: Names
  readonly values: Names
  /** The module input defaults of the bound Connections. */
  readonly connections: Names
}

export type InputSource =
  | "dependency"
  | "value"
  | "capsule_name"
  | "workspace_scoped_capsule_name"
  | "connection"
  /** Nobody gives a value, and the module has a default. */
  | "module"
  | "missing"

/** Where the value of an input comes from that the host does not deliver, the first that has one. */
export const inputSource = (variable: DeclaredVariable, givers: InputGivers): InputSource => {
  const { name, origin, required } = variable
  // The operator's word comes before what other Capsules and people give.
  if (origin === "operator") return "value"
  if (givers.dependencies.has(name)) return "dependency"
  if (givers.values.has(name)) return "value"
  if (origin === "capsule_name" || origin === "workspace_scoped_capsule_name") return origin
  if (givers.connections.has(name)) return "connection"
  return required ? "missing" : "module"
}
