import { Schema } from "effect"

/** The basic types in manifests and compatibility reports. `json` covers every structural type. */
export const InputType = Schema.Literals(["string", "number", "boolean", "json"])
export type InputType = typeof InputType.Type
