import { Schema } from "effect"

/** The basic types of manifests and compatibility reports. `json` stands for every structural type. */
export const InputType = Schema.Literals(["string", "number", "boolean", "json"])
export type InputType = typeof InputType.Type
