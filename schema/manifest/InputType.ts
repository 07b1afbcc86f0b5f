import { Schema } from "effect"

/** The basic types shared by manifests and compatibility reports; `json` is every structural type. */
export const InputType = Schema.Literals(["string", "number", "boolean", "json"])
export type InputType = typeof InputType.Type
