import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"

/** A required variable with no default and no other constraints. `origin` is `user` unless given. */
export const declared = (
  name: string,
  type: DeclaredVariable["type"] = "string",
  origin: DeclaredVariable["origin"] = "user"
): DeclaredVariable => ({
  name,
  type,
  required: true,
  hasDefault: false,
  sensitive: false,
  ephemeral: false,
  origin,
  set: false
})
