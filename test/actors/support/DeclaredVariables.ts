import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"

/** A required variable of a configuration without other rules. By default, a person supplies it. */
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
