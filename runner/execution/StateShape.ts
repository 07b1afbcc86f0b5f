/** What is expected of a JSON value. `undefined` means anything. */
export interface Shape {
  readonly kinds: ReadonlyArray<JsonKind>
  readonly check?: (value: string | number) => boolean
  /** Of an object: its known fields. Others may be present. */
  readonly fields?: ReadonlyMap<string, Shape | undefined>
  readonly required?: ReadonlyArray<string>
  /** Of an object: the shape of each value. */
  readonly values?: Shape
  /** Of an array. */
  readonly items?: Shape
}

export type JsonKind = "string" | "number" | "boolean" | "null" | "object" | "array"

const text: Shape = { kinds: ["string"] }
const textOrNull: Shape = { kinds: ["string", "null"] }
const whole: Shape = { kinds: ["number"], check: Number.isSafeInteger }
const object = (fields: Readonly<Record<string, Shape | undefined>>, ...required: ReadonlyArray<string>): Shape => ({
  kinds: ["object"],
  fields: new Map(Object.entries(fields)),
  required
})
const arrayOrNull = (items: Shape): Shape => ({ kinds: ["array", "null"], items })

const pathStep = object({ type: text, value: undefined }, "type", "value")

export const instanceShape = object({
  deposed: textOrNull,
  attributes: { kinds: ["object", "null"] },
  sensitive_attributes: arrayOrNull({ kinds: ["array"], items: pathStep })
})

export const instancesShape = arrayOrNull(instanceShape)

export const resourceShape = object(
  {
    mode: text,
    module: textOrNull,
    type: textOrNull,
    name: textOrNull,
    provider: textOrNull,
    instances: instancesShape
  },
  "mode"
)

const output = object({ value: undefined, type: undefined, sensitive: { kinds: ["boolean"] } }, "value", "type")

export const outputsShape: Shape = { kinds: ["object", "null"], values: output }

/** The shape that `StateDocument` in StateFile.ts describes: test/runner/execution/StateScan compares the two. */
export const stateShape = object(
  {
    serial: whole,
    lineage: { kinds: ["string"], check: (value) => value !== "" },
    version: whole,
    terraform_version: text,
    outputs: outputsShape,
    resources: arrayOrNull(resourceShape),
    encrypted_data: undefined
  },
  "serial",
  "lineage"
)
