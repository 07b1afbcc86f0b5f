import { Option, Redacted, Schema } from "effect"
import { normaliseProviderAddress } from "../../schema/records/NormaliseProviderAddress.ts"
import { leafTexts } from "../redaction/SecretRule.ts"
import { withExactNumbers } from "../../schema/json/ExactNumbers.ts"
import type { StateOutput, StateProblem } from "./RunOutcome.ts"
import { type Instance, type Outputs, type PathStep, type Resource, StateDocument } from "./StateDocument.ts"

const decodeDocument = Schema.decodeUnknownOption(Schema.fromJsonString(StateDocument))

/** An instance of a managed resource, with the address that the tool prints in its messages. */
export interface ManagedObject {
  readonly address: string
  /** The instance's `id` attribute, if it is a string. */
  readonly id: string | undefined
  readonly type: string
  /** Normalised address of the instance's provider, or the text in the state if it is not an address. */
  readonly provider: string
}

/** The parts of a state file that the runner uses. `outputs` and `managed` are undefined if the state is encrypted. */
export interface StateFile {
  readonly serial: number
  readonly lineage: string
  /** The version of the tool that wrote the state. Both tools name the field `terraform_version`. */
  readonly toolVersion: string | undefined
  /** Number of instances of managed resources. */
  readonly resourceCount: number
  readonly outputs: ReadonlyArray<StateOutput> | undefined
  readonly managed: ReadonlyArray<ManagedObject> | undefined
  /** True if every object belongs to a provider that is built into the tool; false if the state is encrypted. */
  readonly builtinOnly: boolean
  /** Texts that the state marks as sensitive. */
  readonly sensitiveTexts: ReadonlyArray<string>
  /** The `sensitiveTexts` that do not come from Outputs. */
  readonly sensitiveObjectTexts: ReadonlyArray<string>
}

/** Parses an address such as `module.a.provider["terraform.io/builtin/terraform"]`, as the tool writes it in states. */
const builtinProvider = /(?:^|\.)provider\["terraform\.io\/builtin\/[a-z0-9-]+"\]$/

const providerReference = /(?:^|\.)provider\["([^"]+)"\](?:\.[^.]+)?$/

const providerOf = (reference: string): string =>
  normaliseProviderAddress(providerReference.exec(reference)?.[1] ?? reference)

const at = (root: unknown, path: ReadonlyArray<typeof PathStep.Type>): unknown => {
  let current: unknown = root
  for (const step of path) {
    const index =
      typeof step.value === "object" && step.value !== null && "value" in step.value ? step.value.value : step.value
    if (typeof current !== "object" || current === null) return undefined
    current = Object.entries(current).find(([key]) => key === String(index))?.[1]
  }
  return current
}

/** Returns the texts in an instance that a state marks as sensitive. */
export const sensitiveTextsOf = (instance: typeof Instance.Type): ReadonlyArray<string> =>
  (instance.sensitive_attributes ?? []).flatMap((path) => leafTexts(at(instance.attributes, path)))

/** Returns the texts in Outputs that a state marks as sensitive. */
export const sensitiveOutputTexts = (outputs: typeof Outputs.Type): ReadonlyArray<string> =>
  Object.values(outputs).flatMap(({ sensitive, value }) => (sensitive === true ? leafTexts(value) : []))

/** An instance of a managed resource, as recorded in the state. */
export interface ManagedInstance {
  readonly object: ManagedObject
  readonly instance: typeof Instance.Type
}

/** Returns the instances of a managed resource. Returns an empty list for a data source. */
export const managedInstances = ({
  instances,
  mode,
  module,
  name,
  provider,
  type
}: typeof Resource.Type): ReadonlyArray<ManagedInstance> =>
  mode !== "managed"
    ? []
    : (instances ?? []).map((instance) => {
        const id = instance.attributes?.["id"]
        const index = instance.index_key == null ? "" : `[${JSON.stringify(instance.index_key)}]`
        const object = {
          address: `${module == null ? "" : `${module}.`}${type}.${name}${index}`,
          id: typeof id === "string" ? id : undefined,
          type: type ?? "",
          provider: providerOf(provider ?? "")
        }
        return { object, instance }
      })

const decoder = new TextDecoder("utf-8", { fatal: true })
const decodeText = Option.liftThrowable((bytes: Uint8Array) => decoder.decode(bytes))

/** Decodes a complete state file. Returns `none` for anything else. */
export const stateDocument = (bytes: Uint8Array): Option.Option<typeof StateDocument.Type> =>
  decodeText(bytes).pipe(
    Option.flatMap((text) => decodeDocument(withExactNumbers(text))),
    Option.filter((document) => document.version === 4 || document.encrypted_data !== undefined)
  )

/** Returns `none` if the bytes are not a complete state file, for example because the tool is still writing it. */
export const parseState = (bytes: Uint8Array): Option.Option<StateFile> => Option.map(stateDocument(bytes), stateFile)

/** Extracts the parts of a state that the runner uses. */
export const stateFile = (document: typeof StateDocument.Type): StateFile => {
  const resources = document.resources ?? []
  const instances = resources.flatMap((resource) => resource.instances ?? [])
  const outputs = Object.entries(document.outputs ?? {}).map(([name, output]) => ({
    name,
    type: output.type,
    value: Redacted.make(output.value),
    sensitive: output.sensitive ?? false
  }))
  const managed = resources.flatMap(managedInstances).map(({ object }) => object)
  const isReadable = document.encrypted_data === undefined
  const sensitiveObjectTexts = instances.flatMap(sensitiveTextsOf)
  return {
    serial: document.serial,
    lineage: document.lineage,
    toolVersion: document.terraform_version,
    resourceCount: managed.length,
    outputs: isReadable ? outputs : undefined,
    managed: isReadable ? managed : undefined,
    builtinOnly: isReadable && resources.every(({ provider }) => builtinProvider.test(provider ?? "")),
    sensitiveTexts: [...sensitiveOutputTexts(document.outputs ?? {}), ...sensitiveObjectTexts],
    sensitiveObjectTexts
  }
}

/** Returns the reason why a state does not continue the base, or `undefined` if it does. */
export const continuationProblem = (
  base: Pick<StateFile, "lineage" | "serial"> | undefined,
  next: Pick<StateFile, "lineage" | "serial">
): StateProblem | undefined => {
  if (base === undefined) return undefined
  if (base.lineage !== next.lineage) return "lineage_changed"
  return next.serial < base.serial ? "serial_decreased" : undefined
}
