import { Schema } from "effect"

/** The basic types that a manifest and a compatibility report agree on; `json` is every structural type. */
export const InputType = Schema.Literals(["string", "number", "boolean", "json"])
export type InputType = typeof InputType.Type
