import type { Connection, DeclaredVariable, Dependency } from "../../api/Types.ts"

/** The origin of an input's value; never the value itself. */
export type InputSource =
  | { readonly kind: "injected"; readonly output: string; readonly producerCapsuleId: string }
  | { readonly kind: "connection"; readonly connectionId: string; readonly displayName: string }
  | {
      readonly kind:
        | "set"
        | "operator"
        | "host"
        | "capsule_name"
        | "workspace_scoped_capsule_name"
        | "default"
        | "missing"
    }

/**
 * The same order as in a Run: the operator first, other Capsules before what people have set, Connections before the module's
 * default.
 */
export const inputSourceOf = (
  variable: Pick<DeclaredVariable, "name" | "origin" | "required" | "set">,
  capsuleId: string,
  dependencies: ReadonlyArray<Dependency>,
  /** The Connections bound to the module's providers. */
  connections: ReadonlyArray<Pick<Connection, "id" | "displayName" | "moduleInputDefaults">>
): InputSource => {
  const { name, origin, required, set } = variable
  if (origin === "operator" || origin === "host") return { kind: origin }
  // If two of them fill the same input, the later one wins.
  for (const { consumerCapsuleId, mode, outputs, producerCapsuleId } of dependencies.toReversed()) {
    const given = outputs.find(({ to }) => to === name)
    if (consumerCapsuleId === capsuleId && mode !== "remote_state" && given !== undefined) {
      return { kind: "injected", output: given.from, producerCapsuleId }
    }
  }
  if (origin === "capsule_name" || origin === "workspace_scoped_capsule_name") return { kind: origin }
  if (set) return { kind: "set" }
  const connection = connections.find(({ moduleInputDefaults }) => Object.hasOwn(moduleInputDefaults, name))
  if (connection !== undefined)
    return { kind: "connection", connectionId: connection.id, displayName: connection.displayName }
  return { kind: required ? "missing" : "default" }
}
