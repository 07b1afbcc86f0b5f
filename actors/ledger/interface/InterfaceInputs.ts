import { Result, Schema } from "effect"
import type { InterfaceBlueprint } from "../../../schema/manifest/CompiledInstall.ts"
import type { OutputType } from "../../../schema/manifest/InterfaceDeclaration.ts"

/**
 * The reason why an Interface could not be materialised. It contains the names of inputs and Outputs but never their values.
 */
export class MaterializationFailed extends Schema.TaggedError<MaterializationFailed>()("MaterializationFailed", {
  code: Schema.Literals([
    "output_missing",
    "output_not_public",
    "output_type_mismatch",
    "inputs_too_large",
    "resource_uri_invalid",
    "permission_not_allowed",
    "installing_principal_missing",
    "internal_error"
  ]),
  message: Schema.String
}) {}

/** An Output of a state. The value is present only if the state does not mark it as sensitive. */
export interface AppliedOutput {
  readonly name: string
  readonly value: Schema.Json | undefined
  /** The reason why the Output is private, even if the module does not mark it as sensitive. */
  readonly privacy?: string | undefined
}

const maxInputsBytes = 64 * 1024
const hostname = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

/** Accepts only http and https URLs without credentials, because browsers open these URLs. */
const isWebUrl = (value: Schema.Json): boolean => {
  const url = typeof value === "string" ? URL.parse(value) : null
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
}

const fits = (type: OutputType, value: Schema.Json): boolean => {
  switch (type) {
    case "string":
    case "number":
    case "boolean":
      return typeof value === type
    case "url":
      return isWebUrl(value)
    case "hostname":
      return typeof value === "string" && hostname.test(value)
    case "json":
      return true
  }
}

const failed = (code: MaterializationFailed["code"], message: string) =>
  Result.fail(new MaterializationFailed({ code, message }))

/**
 * Fills the inputs of an Interface from the Outputs of an apply. Each Output must exist, be public in the state and have the
 * declared type.
 */
export const resolveInputs = (
  { spec }: InterfaceBlueprint,
  outputs: ReadonlyMap<string, AppliedOutput>
): Result.Result<Readonly<Record<string, Schema.Json>>, MaterializationFailed> => {
  const resolved: Array<readonly [string, Schema.Json]> = []
  for (const [name, input] of Object.entries(spec.inputs ?? {})) {
    if (input.source === "literal") {
      resolved.push([name, input.value])
      continue
    }
    const output = outputs.get(input.outputName)
    if (output === undefined) {
      return failed(
        "output_missing",
        `The input ${name} needs the Output ${input.outputName}, which the apply did not set.`
      )
    }
    if (output.value === undefined) {
      const needed = `The input ${name} needs the Output ${input.outputName}, which is`
      return failed(
        "output_not_public",
        output.privacy === undefined ? `${needed} sensitive.` : `${needed} not published. ${output.privacy}`
      )
    }
    if (!fits(input.outputType, output.value)) {
      return failed(
        "output_type_mismatch",
        `The input ${name} needs the Output ${input.outputName} as a ${input.outputType}, which it is not.`
      )
    }
    resolved.push([name, output.value])
  }
  const inputs = Object.fromEntries(resolved)
  if (new TextEncoder().encode(JSON.stringify(inputs)).length > maxInputsBytes) {
    return failed("inputs_too_large", `The inputs of an Interface have at most ${maxInputsBytes} bytes.`)
  }
  const { resourceUriInput } = spec.access
  if (resourceUriInput !== undefined && !isWebUrl(inputs[resourceUriInput] ?? null)) {
    return failed(
      "resource_uri_invalid",
      `The input ${resourceUriInput} identifies a resource and must be a web address.`
    )
  }
  return Result.succeed(inputs)
}
