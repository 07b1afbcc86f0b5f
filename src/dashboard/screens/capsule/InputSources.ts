import type { Connection, DeclaredVariable, Dependency } from "../../api/Types.ts"

/** The source of an input's value. Never contains the value. */
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
 * Uses the same precedence as a Run: the operator, other Capsules, values set by people, Connections, and then the module's
 * default.
 */
export const inputSourceOf = (
  variable: Pick<DeclaredVariable, "name" | "origin" | "required" | "set">,
  capsuleId: string,
  dependencies: ReadonlyArray<Dependency>,
  /** The Connections of the module's providers. */
  connections: ReadonlyArray<Pick<Connection, "id" | "displayName" | "moduleInputDefaults">>
): InputSource => {
  const { name, origin, required, set } = variable
  if (origin === "operator" || origin === "host") return { kind: origin }
  // If two dependencies provide the same input, the later one applies.
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
